using Esb.Core.Errors;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Files;

/// <summary>A file that cannot be worked on ends apart, with the reason beside it, and holds up no other.</summary>
[TestFixture, CancelAfter(30_000)]
internal sealed class FileRefusalTests : FileInboundFixture
{
    [Test]
    public async Task Refused_file_ends_in_error_with_a_text_beside_it_and_the_next_goes_on(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        intake.Answer = (message, _) =>
            message.Body.ReadText() == "bad"
                ? throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed)
                : Task.FromResult(Task.CompletedTask);
        await using var endpoint = await StartAsync(intake);

        await PutAsync(At("a.xml"), "bad", cancellationToken);
        await PutAsync(At("b.xml"), "good", cancellationToken);

        await Eventually.HoldsAsync(
            () => File.Exists(At("error", "a.xml.reason.txt")) && File.Exists(At("done", "b.xml")),
            "both are put away",
            cancellationToken
        );
        var reason = await File.ReadAllLinesAsync(At("error", "a.xml.reason.txt"), cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(await File.ReadAllTextAsync(At("error", "a.xml"), cancellationToken), Is.EqualTo("bad"));
            Assert.That(reason[0], Is.EqualTo("ESB-XML-SYNTAX"));
            Assert.That(reason[1], Is.EqualTo("The body is no XML."));
            Assert.That(reason[3], Is.EqualTo($"message {intake.Messages[0].Id}"));
        }
    }

    [Test]
    public async Task Refused_files_with_long_names_that_begin_alike_have_a_text_each(CancellationToken cancellationToken)
    {
        string[] names = [$"{new string('n', 80)}-1.xml", $"{new string('n', 80)}-2.xml", $"{new string('n', 240)}.xml"];
        var intake = new RecordingIntake
        {
            Answer = (_, _) => throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed),
        };
        await using var endpoint = await StartAsync(intake);

        foreach (var name in names)
            await File.WriteAllTextAsync(At(name), "bad", cancellationToken);

        await Eventually.HoldsAsync(
            () => Directory.Exists(At("error")) && Directory.GetFiles(At("error"), "*.reason.txt").Length == 3,
            "each has its text",
            cancellationToken
        );
        foreach (var name in names[..2])
            Assert.That(File.Exists(At("error", $"{name}.reason.txt")), Is.True, name);
    }

    [Test]
    public async Task Text_of_a_refused_file_takes_the_name_of_no_file_that_is_there(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake
        {
            Answer = (_, _) => throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed),
        };
        Directory.CreateDirectory(At("error"));
        await File.WriteAllTextAsync(At("error", "a.xml.reason.txt"), "somebody's file", cancellationToken);
        await using var endpoint = await StartAsync(intake);

        await PutAsync(At("a.xml"), "bad", cancellationToken);

        await Eventually.HoldsAsync(
            () => Directory.GetFiles(At("error"), "a.xml.*.reason.txt").Length == 1,
            "the text stands beside it",
            cancellationToken
        );
        Assert.That(await File.ReadAllTextAsync(At("error", "a.xml.reason.txt"), cancellationToken), Is.EqualTo("somebody's file"));
    }

    [Test]
    public async Task File_larger_than_the_limit_ends_in_error(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        await File.WriteAllBytesAsync(At("large.bin"), new byte[SomeFiles.MaxBodyBytes + 1], cancellationToken);

        await Eventually.HoldsAsync(() => File.Exists(At("error", "large.bin.reason.txt")), "it is refused", cancellationToken);
        Assert.That(intake.Messages, Is.Empty);
        Assert.That(intake.Refusals, Is.EqualTo(["ESB-BODY-SIZE"]));
    }

    [Test, Property("Case", "FIL-14")]
    public async Task Unreadable_file_ends_in_error(CancellationToken cancellationToken)
    {
        if (Environment.UserName == "root")
            Assert.Ignore("Nothing is unreadable to root: run as another user to see it.");
        var intake = new RecordingIntake();
        await PutAsync(At("order.xml"), "<order/>", cancellationToken);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(At("order.xml"), UnixFileMode.None);

        await using var endpoint = await StartAsync(intake);

        await Eventually.HoldsAsync(() => File.Exists(At("error", "order.xml.reason.txt")), "it is refused", cancellationToken);
        Assert.That(intake.Refusals, Is.EqualTo(["ESB-FILE-ACCESS"]));
    }
}
