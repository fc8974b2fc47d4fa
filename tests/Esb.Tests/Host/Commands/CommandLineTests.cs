using Esb.Host.Commands;

namespace Esb.Tests.Host.Commands;

/// <summary>Words and options that are no command are refused with what was meant.</summary>
[CancelAfter(30_000)]
public sealed class CommandLineTests : CommandLineFixture
{
    [TestCase("vaildate", "validate"), TestCase("endpoints lst", "list"), TestCase("schema --hepl", "--help"), Property("Case", "CLI-01")]
    public async Task Unknown_word_ends_with_the_nearest_one_and_the_usage(string arguments, string meant)
    {
        var exitCode = await RunAsync(arguments.Split(' '));

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Error, Does.StartWith("ESB-CLI-USAGE").And.Contains($"did you mean \"{meant}\"?"));
        Assert.That(Error.TrimEnd().Split('\n'), Has.Length.EqualTo(2).And.Some.Match("^See esb .*--help"));
        Assert.That(Output, Is.Empty);
    }

    [Test]
    public async Task No_command_shows_the_commands()
    {
        Assert.That(await RunAsync(), Is.Zero);
        Assert.That(Output, Does.Contain("Usage:").And.Contains("validate").And.Contains("new <folder>"));
        Assert.That(Error, Is.Empty);
    }

    [TestCase(""), TestCase("audit find"), TestCase("send"), TestCase("dead-letters replay"), TestCase("new")]
    public async Task Help_fits_80_columns(string command)
    {
        Assert.That(await RunAsync([.. command.Split(' ', StringSplitOptions.RemoveEmptyEntries), "--help"]), Is.Zero);
        Assert.That(Output.Split('\n').Where(line => line.TrimEnd().Length > 80), Is.Empty);
    }

    [Test]
    public async Task Help_shows_the_values_that_are_accepted()
    {
        await RunAsync("audit", "find", "--help");

        Assert.That(Output, Does.Contain("dead-lettered").And.Not.Contains("DeadLettered"));
    }

    [Test]
    public async Task Header_that_would_not_travel_is_refused()
    {
        File.WriteAllText(Path.Combine(Folder, "a.xml"), "<a/>");

        Assert.That(await RunAsync("send", "orders.new", "--file", Path.Combine(Folder, "a.xml"), "--header", "order=1"), Is.EqualTo(2));
        Assert.That(Error, Does.Contain("--header: expected a name that begins with x-"));
    }

    [TestCase("validate", "config"), TestCase("send orders.new", "--file"), TestCase("audit show", "id"), Property("Case", "CLI-02")]
    public async Task Missing_argument_is_named(string arguments, string missing)
    {
        var exitCode = await RunAsync(arguments.Split(' '));

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Error.Split('\n')[0], Does.Contain(missing));
    }

    [
        TestCase("send orders.new --file a.xml --content-type xml", "--content-type: expected a media type"),
        TestCase("dead-letters replay --all --command", "--command: expected one line")
    ]
    public async Task Value_that_no_header_can_carry_is_refused(string arguments, string told)
    {
        string[] words = arguments.EndsWith("--command", StringComparison.Ordinal)
            ? [.. arguments.Split(' '), "two\nlines"]
            : arguments.Split(' ');

        var exitCode = await RunAsync(words);

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Error, Does.Contain(told));
    }

    [Test, Property("Case", "CLI-03")]
    public async Task Option_given_twice_is_refused() =>
        Assert.That(await RunAsync("send", "orders.new", "--file", "a", "--file", "b"), Is.EqualTo(2));

    [TestCase("--count 0"), TestCase("--batch 5000"), TestCase("--delay 5"), TestCase("--url nowhere"), TestCase("--count many")]
    public async Task Option_out_of_range_is_refused(string option) =>
        Assert.That(await RunAsync(["send", "orders.new", "--file", "a", .. option.Split(' ')]), Is.EqualTo(2));

    [
        TestCase("--key", "s3cret"),
        TestCase("--password", "s3cret"),
        TestCase("--url", "http://me:s3cret@127.0.0.1:8081"),
        Property("Case", "CLI-11")
    ]
    public async Task Secret_as_an_argument_is_refused(string option, string value)
    {
        var exitCode = await RunAsync("endpoints", "list", option, value);

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Error, Does.Contain("use the key file or the environment variable ESB_KEY").And.Not.Contain("s3cret"));
    }

    [Test]
    public async Task File_or_folder_that_nobody_foresaw_to_be_out_of_reach_is_a_configuration_error()
    {
        var context = new CommandContext
        {
            Output = TextWriter.Null,
            Error = TextWriter.Null,
            Variables = new Dictionary<string, string>(),
            Services = StandIns.Services,
        };
        using var error = new StringWriter();
        Exception[] faults =
        [
            new UnauthorizedAccessException("Access to the path '/etc/esb' is denied."),
            new IOException("Input/output error : '/etc/esb'"),
        ];

        foreach (var fault in faults)
            Assert.That(
                await EsbCommandLine.InvokeAsync(["validate", Folder], context with { Error = error, Services = () => throw fault }),
                Is.EqualTo(3)
            );

        Assert.That(
            error.ToString().TrimEnd().Split(Environment.NewLine),
            Is.EqualTo(faults.Select(fault => $"ESB-CLI-FILE {fault.Message}"))
        );
    }

    [Test]
    public async Task Id_that_is_none_is_told_without_words_of_the_framework()
    {
        Assert.That(await RunAsync("audit", "show", "nonsense"), Is.EqualTo(2));
        Assert.That(Error, Does.StartWith("ESB-CLI-USAGE 'nonsense' is not a message id: expected a UUID").And.Not.Contain("Guid"));
    }
}
