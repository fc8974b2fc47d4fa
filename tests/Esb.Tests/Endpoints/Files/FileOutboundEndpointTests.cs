using System.Diagnostics;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Files;
using Esb.Tests.Endpoints.Contracts;

namespace Esb.Tests.Endpoints.Files;

[TestFixture]
internal sealed class FileOutboundEndpointTests
{
    private DirectoryInfo _folder = null!;

    private string Folder => _folder.FullName;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task File_is_named_by_the_template()
    {
        var message = Some.Message(key: "Blue Cafe") with { Headers = MessageHeaders.Empty.With("x-order", "A-1001") };

        await SendAsync(message, "{message.key}-{header.x-order}.xml");

        Assert.That(_folder.GetFiles().Select(file => file.Name), Is.EqualTo(["Blue Cafe-A-1001.xml"]));
    }

    [TestCase("../stolen", Description = "FIL-01")]
    [TestCase("/etc/cron.d/x", Description = "FIL-02")]
    [TestCase("..\\stolen", Description = "FIL-03")]
    [TestCase("a\nb", Description = "FIL-07")]
    [Property("Case", "FIL-01")]
    public void Unsafe_name_from_a_header_is_refused_and_nothing_written(string order)
    {
        var failure = Refusal(With("x-order", order), "{header.x-order}");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure.Code, Is.EqualTo("ESB-FILE-NAME"));
            Assert.That(failure.IsTransient, Is.False);
            Assert.That(failure.Message, Does.Contain("must be a plain file name").And.Not.Contain("\n"));
            Assert.That(_folder.GetFileSystemInfos(), Is.Empty);
            Assert.That(File.Exists(Path.Combine(Folder, "..", "stolen")), Is.False);
        }
    }

    [Test, Property("Case", "FIL-04")]
    public void Place_without_a_value_is_refused()
    {
        var failure = Refusal(Some.Message(), "{header.x-order}.xml");

        Assert.That(failure.Message, Is.EqualTo("The file name of the endpoint 'orders-out' has no value for {header.x-order}."));
    }

    [Test, Property("Case", "FIL-08")]
    public async Task Name_that_differs_only_in_case_meets_the_rule_for_existing_files()
    {
        await using var adapter = SomeFiles.Outbound(Folder, "{header.x-order}.xml");
        await adapter.CreateInstance().SendAsync(With("x-order", "Tea", "<a/>"), default);

        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await adapter.CreateInstance().SendAsync(With("x-order", "TEA", "<b/>"), default)
        )!;

        Assert.That(failure.Code, Is.EqualTo("ESB-FILE-EXISTS"));
    }

    [Test, Property("Case", "FIL-09")]
    public async Task Existing_file_with_other_bytes_is_kept_and_the_message_fails()
    {
        await SendAsync(Some.Message("<old/>"), "order.xml");

        var failure = Refusal(Some.Message("<new/>"), "order.xml");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure.Code, Is.EqualTo("ESB-FILE-EXISTS"));
            Assert.That(failure.IsTransient, Is.False);
            Assert.That(Contents(), Is.EqualTo(["<old/>"]));
        }
    }

    [TestCase(FileExistsRule.Fail)]
    [TestCase(FileExistsRule.Replace)]
    [TestCase(FileExistsRule.Unique)]
    [Property("Case", "FIL-09")]
    public async Task Same_bytes_under_the_same_name_count_as_delivered(FileExistsRule rule)
    {
        await SendAsync(Some.Message("<order/>"), "order.xml", rule);
        await SendAsync(Some.Message("<order/>"), "order.xml", rule);

        Assert.That(Contents(), Is.EqualTo(["<order/>"]));
    }

    [Test, Property("Case", "FIL-09")]
    public async Task Existing_file_is_replaced_where_that_is_configured()
    {
        await SendAsync(Some.Message("<old/>"), "order.xml", FileExistsRule.Replace);
        await SendAsync(Some.Message("<new/>"), "order.xml", FileExistsRule.Replace);

        Assert.That(Contents(), Is.EqualTo(["<new/>"]));
    }

    [Test, Property("Case", "FIL-09")]
    public async Task Second_file_gets_a_name_of_its_own_where_that_is_configured()
    {
        var second = Some.Message("<b/>");
        await SendAsync(Some.Message("<a/>"), "order.xml", FileExistsRule.Unique);
        await SendAsync(second, "order.xml", FileExistsRule.Unique);
        await SendAsync(second, "order.xml", FileExistsRule.Unique);

        Assert.That(_folder.GetFiles().Select(file => file.Name), Is.EquivalentTo(["order.xml", $"order-{second.Id:N}.xml"]));
    }

    [Test, CancelAfter(30_000), Property("Case", "FIL-09")]
    public async Task Of_many_messages_with_one_name_at_once_exactly_one_gets_it(CancellationToken cancellationToken)
    {
        for (var round = 0; round < 20; round++)
        {
            var name = $"order-{round}.xml";
            var sends = Enumerable
                .Range(0, 16)
                .Select(number => Task.Run(() => TrySendAsync(Some.Message($"<order>{number}</order>"), name), cancellationToken));

            Assert.That((await Task.WhenAll(sends)).Count(sent => sent), Is.EqualTo(1), "two counted as sent, and one of them is lost");
        }
    }

    [TestCase(FileExistsRule.Fail)]
    [TestCase(FileExistsRule.Replace)]
    [Property("Case", "FIL-10")]
    public void Link_under_the_name_is_not_followed(FileExistsRule rule)
    {
        var elsewhere = Path.Combine(Folder, "elsewhere");
        File.WriteAllText(elsewhere, "precious");
        File.CreateSymbolicLink(Path.Combine(Folder, "order.xml"), elsewhere);

        var failure = Refusal(Some.Message("<order/>"), "order.xml", rule);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure.Code, Is.EqualTo("ESB-FILE-LINK"));
            Assert.That(File.ReadAllText(elsewhere), Is.EqualTo("precious"));
        }
    }

    [Test, Property("Case", "FIL-15")]
    public void Full_disk_is_an_outage_and_leaves_no_file()
    {
        var body = MessageBody.FromStream(new FailingStream(DiskFull()));

        var failure = Refusal(Some.Message() with { Body = body }, "order.xml");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure.Code, Is.EqualTo("ESB-FILE-DISKFULL"));
            Assert.That(failure.IsTransient && failure.IsOutage, Is.True);
            Assert.That(_folder.GetFileSystemInfos(), Is.Empty);
        }
    }

    [Test, Property("Case", "FIL-15")]
    public async Task Volume_without_space_takes_the_message_once_there_is_some()
    {
        if (Environment.UserName != "root" || !Run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", Folder))
            Assert.Ignore("Only root can mount a small volume; the other test covers the code.");
        try
        {
            var large = Some.Message(new string('x', 100_000));
            var failure = Refusal(large, "order.xml");
            Assert.That(failure.Code, Is.EqualTo("ESB-FILE-DISKFULL"));
            Assert.That(_folder.GetFileSystemInfos(), Is.Empty);

            Assert.That(Run("mount", "-o", "remount,size=1m", Folder), Is.True);
            await SendAsync(large, "order.xml");

            Assert.That(new FileInfo(Path.Combine(Folder, "order.xml")).Length, Is.EqualTo(100_000));
        }
        finally
        {
            Run("umount", Folder);
        }
    }

    [Test]
    public async Task Folder_that_vanishes_is_not_made_again_below_an_absent_volume()
    {
        var folder = Path.Combine(Folder, "out");
        await using var adapter = SomeFiles.Outbound(folder);
        var instance = adapter.CreateInstance();
        Directory.Delete(folder);

        var failure = Assert.ThrowsAsync<EndpointException>(async () => await instance.SendAsync(Some.Message(), default))!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure.Code, Is.EqualTo("ESB-FILE-FOLDER"));
            Assert.That(failure.IsOutage, Is.True);
            Assert.That(Directory.Exists(folder), Is.False);
        }
    }

    [Test, Property("Case", "HDR-04")]
    public async Task Headers_never_choose_the_target()
    {
        var message = Some.Message() with
        {
            Headers = MessageHeaders.From([
                new("x-file-name", "stolen.xml"),
                new("CamelFileName", "stolen.xml"),
                new("folder", "/"),
                new("fileName", "stolen.xml"),
                new("ifExists", "replace"),
            ]),
        };

        await SendAsync(message, "order.xml");

        Assert.That(_folder.GetFiles().Select(file => file.Name), Is.EqualTo(["order.xml"]));
    }

    [TestCase("../{message.id}.xml")]
    [TestCase("{message.id}/order.xml")]
    [TestCase("{message.id}:order")]
    public void Template_that_could_never_be_safe_is_a_configuration_error(string template)
    {
        var errors = new ConfigErrors();

        FileNameTemplate.Compile(SomeFiles.OutboundConfig(Folder, template), template, new PlainExpressions(), errors);

        Assert.That(errors.All.Select(error => (error.Code, error.Path)), Is.EqualTo([("ESB-FILE-NAME", "endpoints.orders-out.fileName")]));
    }

    [Test]
    public async Task File_that_is_there_and_may_not_be_read_concerns_its_message_only()
    {
        if (Environment.UserName == "root")
            Assert.Ignore("Nothing is unreadable to root: run as another user to see it.");
        var target = Path.Combine(Folder, "a.xml");
        await File.WriteAllTextAsync(target, "<other/>");
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(target, UnixFileMode.None);

        var failure = Refusal(Some.Message(), "a.xml");
        await SendAsync(Some.Message(), "a.xml", FileExistsRule.Unique);
        await SendAsync(Some.Message(), "a.xml", FileExistsRule.Replace);

        Assert.That((failure.Code, failure.IsTransient, failure.IsOutage), Is.EqualTo(("ESB-FILE-EXISTS", false, false)));
        Assert.That(Contents(), Is.EqualTo(["<order/>", "<order/>"]));
    }

    private static EsbMessage With(string header, string value, string body = "<order/>") =>
        Some.Message(body) with
        {
            Headers = MessageHeaders.Empty.With(header, value),
        };

    private async Task SendAsync(EsbMessage message, string fileName, FileExistsRule rule = FileExistsRule.Fail)
    {
        await using var adapter = SomeFiles.Outbound(Folder, fileName, rule);
        await adapter.CreateInstance().SendAsync(message, CancellationToken.None);
    }

    private async Task<bool> TrySendAsync(EsbMessage message, string fileName)
    {
        try
        {
            await SendAsync(message, fileName);
            return true;
        }
        catch (EndpointException ex) when (ex.Code == "ESB-FILE-EXISTS")
        {
            return false;
        }
    }

    private EndpointException Refusal(EsbMessage message, string fileName, FileExistsRule rule = FileExistsRule.Fail) =>
        Assert.ThrowsAsync<EndpointException>(() => SendAsync(message, fileName, rule))!;

    private List<string> Contents() => [.. _folder.GetFiles().Select(file => File.ReadAllText(file.FullName))];

    // The system's own complaint, from the device that is always full.
    private static IOException DiskFull()
    {
        using var full = new FileStream("/dev/full", FileMode.Open, FileAccess.Write, FileShare.ReadWrite, bufferSize: 0);
        return Assert.Throws<IOException>(() => full.WriteByte(1))!;
    }

    private static bool Run(string command, params string[] arguments)
    {
        using var process = Process.Start(new ProcessStartInfo(command, arguments) { RedirectStandardError = true })!;
        process.WaitForExit();
        return process.ExitCode == 0;
    }

    private sealed class FailingStream(Exception failure) : MemoryStream
    {
        public override Task CopyToAsync(Stream destination, int bufferSize, CancellationToken cancellationToken) =>
            Task.FromException(failure);
    }
}
