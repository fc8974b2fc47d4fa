using Esb.Core.Errors;
using Esb.Endpoints.Files;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Files;

[TestFixture, CancelAfter(30_000)]
internal sealed class FileInboundEndpointTests
{
    private DirectoryInfo _folder = null!;

    private string Folder => _folder.FullName;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task File_becomes_a_message_and_ends_in_done(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => File.Exists(At("done", "order.xml")), "the file is done", cancellationToken);
        var message = intake.Messages.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(intake.Bodies, Is.EqualTo(["<order/>"]));
            Assert.That(message.ContentType, Is.EqualTo("application/xml"));
            Assert.That(message.Headers["x-file-name"], Is.EqualTo("order.xml"));
            Assert.That(message.ConversationId, Is.EqualTo(message.Id));
            Assert.That(File.Exists(At("order.xml")), Is.False);
        }
    }

    [TestCase("a.json", "application/json")]
    [TestCase("a.XML", "application/xml")]
    [TestCase("a.csv", "application/octet-stream")]
    public async Task Content_type_comes_from_the_ending(string name, string contentType, CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        await File.WriteAllTextAsync(At(name), "{}", cancellationToken);

        await Eventually.HoldsAsync(() => intake.Messages.Count == 1, "it is handed over", cancellationToken);
        Assert.That(intake.Messages[0].ContentType, Is.EqualTo(contentType));
    }

    [Test]
    public async Task Names_that_come_again_never_collide_in_done(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        for (var round = 1; round <= 3; round++)
        {
            await File.WriteAllTextAsync(At("order.xml"), $"<order>{round}</order>", cancellationToken);
            await Eventually.HoldsAsync(() => Done().Count == round, $"round {round} is done", cancellationToken);
        }

        Assert.That(Done().Select(File.ReadAllText), Is.EquivalentTo(["<order>1</order>", "<order>2</order>", "<order>3</order>"]));
        Assert.That(Done().Select(Path.GetFileName), Has.One.Contains(intake.Messages[2].Id.ToString("N")));
    }

    [Test]
    public async Task Refused_file_ends_in_error_with_a_text_beside_it_and_the_next_goes_on(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        intake.Answer = (message, _) => message.Body.ReadText() == "bad" ? throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed) : Task.FromResult(Task.CompletedTask);
        await using var endpoint = await StartAsync(intake);

        await File.WriteAllTextAsync(At("a.xml"), "bad", cancellationToken);
        await File.WriteAllTextAsync(At("b.xml"), "good", cancellationToken);

        await Eventually.HoldsAsync(() => File.Exists(At("error", "a.xml.reason.txt")) && File.Exists(At("done", "b.xml")), "both are put away", cancellationToken);
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
        var intake = new RecordingIntake { Answer = (_, _) => throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed) };
        await using var endpoint = await StartAsync(intake);

        foreach (var name in names) await File.WriteAllTextAsync(At(name), "bad", cancellationToken);

        await Eventually.HoldsAsync(() => Directory.Exists(At("error")) && Directory.GetFiles(At("error"), "*.reason.txt").Length == 3, "each has its text", cancellationToken);
        foreach (var name in names[..2]) Assert.That(File.Exists(At("error", $"{name}.reason.txt")), Is.True, name);
    }

    [Test]
    public async Task Text_of_a_refused_file_takes_the_name_of_no_file_that_is_there(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake { Answer = (_, _) => throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed) };
        Directory.CreateDirectory(At("error"));
        await File.WriteAllTextAsync(At("error", "a.xml.reason.txt"), "somebody's file", cancellationToken);
        await using var endpoint = await StartAsync(intake);

        await File.WriteAllTextAsync(At("a.xml"), "bad", cancellationToken);

        await Eventually.HoldsAsync(() => Directory.GetFiles(At("error"), "a.xml.*.reason.txt").Length == 1, "the text stands beside it", cancellationToken);
        Assert.That(await File.ReadAllTextAsync(At("error", "a.xml.reason.txt"), cancellationToken), Is.EqualTo("somebody's file"));
    }

    [Test]
    public async Task File_is_tried_again_as_the_same_message_while_the_broker_is_away(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        intake.Answer = (_, _) => intake.Messages.Count < 3 ? throw new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable) : Task.FromResult(Task.CompletedTask);
        await using var endpoint = await StartAsync(intake);

        await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => Done().Count == 1, "the file is done after all", cancellationToken);
        Assert.That(intake.Messages.Select(message => message.Id).Distinct().Count(), Is.EqualTo(1));
        Assert.That(intake.Bodies, Is.All.EqualTo("<order/>"));
    }

    [Test]
    public async Task File_stays_claimed_until_its_message_has_arrived_where_the_bus_forgets(CancellationToken cancellationToken)
    {
        var arrived = new TaskCompletionSource();
        var intake = new RecordingIntake { IsDurable = false, Answer = (_, _) => Task.FromResult<Task>(arrived.Task) };
        await using var endpoint = await StartAsync(intake);
        await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => intake.Messages.Count == 1, "it is handed over", cancellationToken);

        Assert.That(Claimed(), Has.Count.EqualTo(1));
        arrived.SetResult();

        await Eventually.HoldsAsync(() => Done().Count == 1 && Claimed().Count == 0, "it is done", cancellationToken);
    }

    [Test]
    public async Task Messages_that_have_not_arrived_do_not_hold_up_the_next_files(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake { IsDurable = false, Answer = (_, _) => Task.FromResult<Task>(new TaskCompletionSource().Task) };
        await using var endpoint = await StartAsync(intake);

        for (var number = 0; number < 20; number++) await File.WriteAllTextAsync(At($"{number}.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => intake.Messages.Count == 20, "all are handed over", cancellationToken);
    }

    [Test]
    public async Task File_that_a_dead_host_had_claimed_is_taken_up_as_the_same_message(CancellationToken cancellationToken)
    {
        var first = new RecordingIntake { IsDurable = false, Answer = (_, _) => Task.FromResult<Task>(new TaskCompletionSource().Task) };
        var dead = await StartAsync(first);
        await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => first.Messages.Count == 1, "the first host has it", cancellationToken);

        var second = new RecordingIntake();
        await using var endpoint = await StartAsync(second);
        await Task.Delay(100, cancellationToken); // a few looks: nothing may happen as long as the first host lives
        Assert.That(second.Messages, Is.Empty);
        await dead.DisposeAsync();

        await Eventually.HoldsAsync(() => Done().Count == 1, "the second host has done it", cancellationToken);
        Assert.That(second.Messages.Single().Id, Is.EqualTo(first.Messages.Single().Id));
    }

    [Test]
    public async Task Two_hosts_never_take_the_same_file(CancellationToken cancellationToken)
    {
        const int Files = 300;
        var (left, right) = (new RecordingIntake(), new RecordingIntake());
        for (var number = 0; number < Files; number++) await File.WriteAllTextAsync(At($"{number}.xml"), $"{number}", cancellationToken);

        await using var first = await StartAsync(left);
        await using var second = await StartAsync(right);

        await Eventually.HoldsAsync(() => Done().Count == Files, "all are done", cancellationToken);
        Assert.That(left.Bodies.Concat(right.Bodies).ToList(), Is.Unique.And.Count.EqualTo(Files));
    }

    [TestCase(1)]
    [TestCase(3)]
    public async Task As_many_files_are_handed_over_at_once_as_configured(int calls, CancellationToken cancellationToken)
    {
        var (now, most) = (0, 0);
        var intake = new RecordingIntake();
        intake.Answer = async (_, token) =>
        {
            most = Math.Max(most, Interlocked.Increment(ref now));
            await Task.Delay(10, token);
            Interlocked.Decrement(ref now);
            return Task.CompletedTask;
        };
        for (var number = 0; number < 30; number++) await File.WriteAllTextAsync(At($"{number}.xml"), "<order/>", cancellationToken);

        await using var endpoint = await StartAsync(intake, SomeFiles.InboundConfig(Folder) with { MaxConcurrentCalls = calls });

        await Eventually.HoldsAsync(() => Done().Count == 30, "all are done", cancellationToken);
        Assert.That(most, Is.EqualTo(calls));
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

    [Test, Property("Case", "FIL-07")]
    public async Task Name_with_a_line_break_travels_escaped(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        await File.WriteAllTextAsync(At("or\nder.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => Done().Count == 1, "it is done", cancellationToken);
        Assert.That(intake.Messages.Single().Headers["x-file-name"], Is.EqualTo("or\\u000Ader.xml"));
    }

    [Test, Property("Case", "FIL-06")]
    public async Task Longest_name_that_a_file_system_allows_is_read_and_put_away_twice(CancellationToken cancellationToken)
    {
        var name = new string('x', 251) + ".xml";
        await using var endpoint = await StartAsync(new RecordingIntake());

        for (var round = 1; round <= 2; round++)
        {
            await File.WriteAllTextAsync(At(name), "<order/>", cancellationToken);
            await Eventually.HoldsAsync(() => Done().Count == round, $"round {round} is done", cancellationToken);
        }
    }

    [Test, Property("Case", "FIL-12")]
    public async Task File_that_its_writer_holds_locked_is_read_once_it_is_free(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using (var writer = new FileStream(At("order.xml"), FileMode.CreateNew, FileAccess.Write, FileShare.None))
        {
            var log = new LogLines();
            await writer.WriteAsync("<order"u8.ToArray(), cancellationToken);
            await writer.FlushAsync(cancellationToken);
            await using var endpoint = await StartAsync(intake, log: log);
            await Eventually.HoldsAsync(() => log.Warnings.Any(line => line.StartsWith("ESB-FILE-BUSY", StringComparison.Ordinal)), "it finds the file in use", cancellationToken);
            await writer.WriteAsync("/>"u8.ToArray(), cancellationToken);
            await writer.DisposeAsync();

            await Eventually.HoldsAsync(() => Done().Count == 1, "it is done", cancellationToken);
        }

        Assert.That(intake.Bodies, Is.EqualTo(["<order/>"]));
    }

    [Test, Property("Case", "FIL-13")]
    public void File_that_disappears_before_it_is_claimed_is_no_error()
    {
        var log = new LogLines();
        using var claims = FileClaims.Open(SomeFiles.InboundConfig(Folder), TimeProvider.System, log);

        Assert.That(claims.TryClaim("gone.xml"), Is.Null);
        Assert.That(log.Warnings, Is.Empty);
    }

    [Test, Property("Case", "FIL-14")]
    public async Task File_that_cannot_be_put_away_is_not_handed_over_again_not_even_after_a_restart(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(At("done"), "a file where the folder should be", cancellationToken);
        var (log, intake) = (new LogLines(), new RecordingIntake());
        var config = SomeFiles.InboundConfig(Folder) with { Pattern = "*.xml" };
        await using (var endpoint = await StartAsync(intake, config, log))
        {
            await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);
            await Eventually.HoldsAsync(() => log.Warnings.Count > 0, "it says so", cancellationToken);
        }

        Assert.That(log.Warnings, Has.One.StartsWith("ESB-FILE-ACCESS"));
        File.Delete(At("done"));
        await using var again = await StartAsync(intake, config);

        await Eventually.HoldsAsync(() => Done().Count == 1, "it is done", cancellationToken);
        Assert.That(intake.Messages, Has.Count.EqualTo(1));
    }

    [Test, Property("Case", "FIL-14")]
    public async Task Unreadable_file_ends_in_error(CancellationToken cancellationToken)
    {
        if (Environment.UserName == "root") Assert.Ignore("Nothing is unreadable to root: run as another user to see it.");
        var intake = new RecordingIntake();
        await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);
        if (!OperatingSystem.IsWindows()) File.SetUnixFileMode(At("order.xml"), UnixFileMode.None);

        await using var endpoint = await StartAsync(intake);

        await Eventually.HoldsAsync(() => File.Exists(At("error", "order.xml.reason.txt")), "it is refused", cancellationToken);
        Assert.That(intake.Refusals, Is.EqualTo(["ESB-FILE-ACCESS"]));
    }

    [Test, Property("Case", "FIL-16")]
    public async Task Done_folder_may_be_on_another_volume(CancellationToken cancellationToken)
    {
        var other = Directory.CreateDirectory($"/dev/shm/esb-{Guid.NewGuid():N}");
        try
        {
            await using var endpoint = await StartAsync(new RecordingIntake(), SomeFiles.InboundConfig(Folder) with { Done = other.FullName });

            await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);

            await Eventually.HoldsAsync(() => other.GetFiles().Length == 1 && Claimed().Count == 0, "it is done", cancellationToken);
            Assert.That(other.GetFiles().Select(file => (file.Name, file.Length)), Is.EqualTo([("order.xml", 8L)]));
        }
        finally
        {
            other.Delete(recursive: true);
        }
    }

    [Test, Property("Case", "FIL-18")]
    public async Task Folder_that_cannot_be_watched_is_looked_through_with_one_warning(CancellationToken cancellationToken)
    {
        var (log, intake) = (new LogLines(), new RecordingIntake());
        await using var endpoint = SomeFiles.Inbound(SomeFiles.InboundConfig(Folder), intake, log, _ => throw new IOException("The number of watches is exhausted."));
        await endpoint.StartAsync(cancellationToken);

        for (var round = 1; round <= 3; round++)
        {
            await File.WriteAllTextAsync(At($"{round}.xml"), "<order/>", cancellationToken);
            await Eventually.HoldsAsync(() => Done().Count == round, $"round {round} is done", cancellationToken);
        }

        Assert.That(log.Warnings, Has.Count.EqualTo(1).And.All.Contains("cannot be watched"));
    }

    [Test]
    public async Task Watched_folder_is_read_long_before_the_interval(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(new RecordingIntake(), SomeFiles.InboundConfig(Folder) with { Interval = TimeSpan.FromHours(1) });
        await Eventually.HoldsAsync(() => Directory.Exists(At(".claimed")), "it has begun", cancellationToken);

        await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => Done().Count == 1, "it is done", cancellationToken);
    }

    [Test, Property("Case", "FIL-19")]
    public async Task Folder_that_comes_back_is_read_again(CancellationToken cancellationToken)
    {
        var (log, intake) = (new LogLines(), new RecordingIntake());
        var folder = At("in");
        await using var endpoint = await StartAsync(intake, SomeFiles.InboundConfig(folder), log);
        await Eventually.HoldsAsync(() => Directory.Exists(Path.Combine(folder, ".claimed")), "it has begun", cancellationToken);

        Directory.Move(folder, At("away"));
        await Eventually.HoldsAsync(() => log.Warnings.Count > 0, "it says so", cancellationToken);
        Assert.That(Directory.Exists(folder), Is.False, "made again below an absent volume");
        Directory.CreateDirectory(folder);
        await File.WriteAllTextAsync(Path.Combine(folder, "order.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => intake.Messages.Count == 1, "it reads again", cancellationToken);
        Assert.That(log.Warnings, Has.Count.EqualTo(1).And.All.StartsWith("ESB-FILE-FOLDER"));
    }

    [Test, Property("Case", "T-AUD-1")]
    public async Task Files_stay_where_they_are_until_what_becomes_of_them_can_be_recorded(CancellationToken cancellationToken)
    {
        var (intake, gate) = (new RecordingIntake(), new ToldAuditGate());
        await using var endpoint = SomeFiles.Inbound(SomeFiles.InboundConfig(Folder), intake, audit: gate);
        await endpoint.StartAsync(cancellationToken);
        await File.WriteAllTextAsync(At("before.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => Done().Count == 1, "the first file is done", cancellationToken);

        gate.Tell("the spool is full to 95 %");
        await Eventually.HoldsAsync(() => gate.Waiting == 1, "the endpoint looks no further", cancellationToken);
        for (var number = 0; number < 3; number++) await File.WriteAllTextAsync(At($"{number}.xml"), $"{number}", cancellationToken);
        var (left, claimed, seen) = (Directory.GetFiles(Folder).Length, Claimed().Count, intake.Messages.Count);
        gate.Tell(null);

        await Eventually.HoldsAsync(() => Done().Count == 4, "all are done", cancellationToken);
        Assert.That((left, claimed, seen), Is.EqualTo((3, 0, 1)));
        Assert.That(intake.Bodies, Is.EquivalentTo(["<order/>", "0", "1", "2"]));
    }

    [Test]
    public async Task Stopping_waits_for_the_file_that_is_handed_over(CancellationToken cancellationToken)
    {
        var go = new TaskCompletionSource();
        var intake = new RecordingIntake { Answer = async (_, _) => { await go.Task; return Task.CompletedTask; } };
        await using var endpoint = await StartAsync(intake);
        await File.WriteAllTextAsync(At("order.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => intake.Messages.Count == 1, "it is being handed over", cancellationToken);

        var stopping = endpoint.StopAsync(cancellationToken);
        Assert.That(stopping.IsCompleted, Is.False);
        go.SetResult();
        await stopping;

        Assert.That(Done(), Has.Count.EqualTo(1));
    }

    private async Task<FileInboundEndpoint> StartAsync(RecordingIntake intake, FileInboundConfig? config = null, LogLines? log = null)
    {
        var endpoint = SomeFiles.Inbound(config ?? SomeFiles.InboundConfig(Folder), intake, log);
        await endpoint.StartAsync(CancellationToken.None);
        return endpoint;
    }

    private string At(params ReadOnlySpan<string> parts) => Path.Combine([Folder, .. parts]);

    private List<string> Done() => Directory.Exists(At("done")) ? [.. Directory.GetFiles(At("done"))] : [];

    private List<string> Claimed() => [.. Directory.GetFiles(At(".claimed"), "*", new EnumerationOptions { RecurseSubdirectories = true, AttributesToSkip = 0, IgnoreInaccessible = true }).Where(path => !path.EndsWith(".lock", StringComparison.Ordinal))];
}
