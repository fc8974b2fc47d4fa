using Esb.Core.Errors;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Inbound;
using Esb.Tests.Endpoints.Files;
using Esb.Tests.Fakes;

namespace Esb.IntegrationTests.Sftp;

/// <summary>Reading from a real OpenSSH server.</summary>
[CancelAfter(120_000)]
public sealed class SftpInboundTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private SshServer _server = null!;
    private KeptMarks _marks = null!;
    private LogLines _log = null!;

    private RecordingIntake Intake { get; set; } = null!;

    private string Bodies => string.Join(' ', Intake.Bodies);

    [SetUp]
    public async Task StartServer() => (_server, _marks, _log, Intake) = (await SshServer.StartAsync(), new(), new(), new());

    [TearDown]
    public async Task StopServer()
    {
        _log.Dispose();
        await _server.DisposeAsync();
    }

    [TestCase(FileOrder.Name, "a b c"), TestCase(FileOrder.Time, "c b a")]
    public async Task Files_are_taken_in_order_and_deleted(FileOrder order, string expected, CancellationToken cancellationToken)
    {
        foreach (var (name, age) in new[] { ("a", 1), ("b", 2), ("c", 3) })
        {
            await _server.PutAsync($"{name}.xml", name, cancellationToken);
            File.SetLastWriteTimeUtc(_server.At($"{name}.xml"), TimeProvider.System.GetUtcNow().UtcDateTime.AddHours(-age));
        }

        await using var endpoint = await StartAsync(config => config with { Order = order, Pattern = "*.xml" }, cancellationToken);
        await HoldsAsync(
            () => Files().Count == 0 && Intake.Messages.Count == 3 && _marks.Count == 0,
            "all are taken, and no record is left",
            cancellationToken
        );

        var message = Intake.Messages[0];
        Assert.That(Bodies, Is.EqualTo(expected));
        Assert.That(
            (message.ContentType, message.Headers["x-file-name"], message.Properties!["file.size"]),
            Is.EqualTo(("application/xml", $"{expected[0]}.xml", "1"))
        );
    }

    [Test]
    public async Task File_waits_for_its_trigger_which_goes_with_it(CancellationToken cancellationToken)
    {
        await _server.PutAsync("a.xml", "a", cancellationToken);
        await _server.PutAsync("b.xml", "b", cancellationToken);
        await _server.PutAsync("b.xml.ok", "", cancellationToken);

        await using var endpoint = await StartAsync(config => config with { Ready = "{name}.ok" }, cancellationToken);
        await HoldsAsync(
            () => !File.Exists(_server.At("b.xml.ok")) && Intake.Messages.Count == 1 && Directory.GetFiles(_server.At(".esb")).Length == 0,
            "the one with a trigger is taken",
            cancellationToken
        );

        Assert.That((Bodies, Files().Single()), Is.EqualTo(("b", "a.xml")));
        await _server.PutAsync("a.xml.ok", "", cancellationToken);
        await HoldsAsync(() => Intake.Messages.Count == 2, "the other one too", cancellationToken);
    }

    [Test]
    public async Task Trigger_without_its_file_among_the_claims_is_put_back(CancellationToken cancellationToken)
    {
        await _server.PutAsync("a.xml", "a", cancellationToken);
        await _server.PutAsync(".esb/a.xml.ok", "", cancellationToken); // the host ended between the two renames

        await using var endpoint = await StartAsync(config => config with { Ready = "{name}.ok" }, cancellationToken);

        await HoldsAsync(() => Bodies == "a", "the claim is completed", cancellationToken);
    }

    [Test]
    public async Task Folders_below_are_read_when_asked_for_and_the_endpoints_own_are_not(CancellationToken cancellationToken)
    {
        await _server.PutAsync("a/b/1.xml", "1", cancellationToken);
        await _server.PutAsync("done/0.xml", "0", cancellationToken);
        await _server.PutAsync("error/0.xml", "0", cancellationToken);

        await using var endpoint = await StartAsync(config => config with { Recursive = true, After = "move:done" }, cancellationToken);
        await HoldsAsync(() => File.Exists(_server.At("done", "1.xml")), "it is taken", cancellationToken);

        Assert.That(Bodies, Is.EqualTo("1"));
    }

    [Test]
    public async Task Young_file_waits_for_its_age(CancellationToken cancellationToken)
    {
        await _server.PutAsync("old.xml", "old", cancellationToken);
        File.SetLastWriteTimeUtc(_server.At("old.xml"), TimeProvider.System.GetUtcNow().UtcDateTime.AddHours(-2));
        await _server.PutAsync("young.xml", "young", cancellationToken);

        await using var endpoint = await StartAsync(config => config with { MinimumAge = TimeSpan.FromHours(1) }, cancellationToken);
        await HoldsAsync(() => Intake.Messages.Count > 0 && Files().Count == 1, "the old one is taken", cancellationToken);

        Assert.That((Bodies, Files().Single()), Is.EqualTo(("old", "young.xml")));
    }

    [Test, Property("Case", "FIL-12")]
    public async Task Growing_file_is_taken_only_once_it_is_whole(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(config => config with { Interval = TimeSpan.FromSeconds(1) }, cancellationToken);
        await using (var file = File.Create(_server.At("a.txt")))
        {
            for (var i = 0; i < 15; i++)
            {
                await file.WriteAsync("x"u8.ToArray(), cancellationToken);
                await file.FlushAsync(cancellationToken);
                await Task.Delay(200, cancellationToken);
            }
        }

        await HoldsAsync(() => Intake.Messages.Count == 1 && Files().Count == 0, "it is taken", cancellationToken);

        Assert.That(Bodies, Is.EqualTo(new string('x', 15)));
    }

    [Test]
    public async Task Folder_that_is_only_read_is_left_as_it_is_and_remembered_over_a_restart(CancellationToken cancellationToken)
    {
        await _server.PutAsync("a.xml", "a", cancellationToken);
        await using (var first = await StartAsync(config => config with { Claim = SftpClaimRule.None }, cancellationToken))
        {
            await HoldsAsync(() => _marks.Count == 1, "it is remembered", cancellationToken);
            await first.StopAsync(cancellationToken);
        }

        await _server.PutAsync("b.xml", "b", cancellationToken);
        await using var second = await StartAsync(config => config with { Claim = SftpClaimRule.None }, cancellationToken);
        await HoldsAsync(() => _marks.Count == 2, "the new one is", cancellationToken);

        Assert.That((Bodies, Files().Count, Directory.Exists(_server.At(".esb"))), Is.EqualTo(("a b", 2, false)));
    }

    [Test]
    public async Task Same_file_sent_again_is_another_message(CancellationToken cancellationToken)
    {
        await using var endpoint = await StartAsync(config => config, cancellationToken);
        foreach (var hour in new[] { 1, 2 })
        {
            await File.WriteAllTextAsync(_server.At("a.part"), "a", cancellationToken);
            File.SetLastWriteTimeUtc(_server.At("a.part"), new DateTime(2026, 1, 1, hour, 0, 0, DateTimeKind.Utc));
            File.Move(_server.At("a.part"), _server.At("a.xml"));
            await HoldsAsync(() => Intake.Messages.Count == hour && Files().Count == 0, "it is taken", cancellationToken);
        }

        Assert.That(Intake.Messages.Select(message => message.Id).Distinct().Count(), Is.EqualTo(2));
    }

    [Test]
    public async Task Claim_that_a_dead_host_left_is_the_same_message(CancellationToken cancellationToken)
    {
        await _server.PutAsync("a.xml", "a", cancellationToken);
        Intake.Answer = async (_, token) =>
        {
            await Task.Delay(Timeout.Infinite, token);
            return Task.CompletedTask;
        };
        await using (var first = await StartAsync(config => config, cancellationToken))
            await HoldsAsync(() => Intake.Messages.Count == 1, "it is handed over", cancellationToken);
        var left = File.Exists(_server.At(".esb", "a.xml"));
        Intake.Answer = (_, _) => Task.FromResult(Task.CompletedTask);

        await using var second = await StartAsync(config => config, cancellationToken);
        await HoldsAsync(() => !File.Exists(_server.At(".esb", "a.xml")), "it is put away", cancellationToken);

        Assert.That(
            (left, Intake.Messages.Count, Intake.Messages.Select(message => message.Id).Distinct().Count()),
            Is.EqualTo((true, 2, 1))
        );
    }

    [Test]
    public async Task File_recorded_as_taken_is_put_away_without_being_published_again(CancellationToken cancellationToken)
    {
        await _server.PutAsync("a.xml", "a", cancellationToken);
        Intake.Answer = async (_, _) =>
        {
            await _server.KillAsync();
            return Task.CompletedTask;
        }; // before it can be put away
        await using (var first = await StartAsync(config => config, cancellationToken))
            await HoldsAsync(() => _marks.Count == 1, "it is recorded", cancellationToken);
        await _server.StartAgainAsync();

        await using var second = await StartAsync(config => config, cancellationToken);
        await HoldsAsync(() => !File.Exists(_server.At(".esb", "a.xml")), "it is put away", cancellationToken);

        Assert.That(Intake.Messages, Has.Count.EqualTo(1));
    }

    [Test]
    public async Task File_stays_until_the_store_can_record_it(CancellationToken cancellationToken)
    {
        await _server.PutAsync("a.xml", "a", cancellationToken);
        _marks.IsAway = false;
        Intake.Answer = (_, _) =>
        {
            _marks.IsAway = true;
            return Task.FromResult(Task.CompletedTask);
        };
        await using var endpoint = await StartAsync(config => config, cancellationToken);
        await HoldsAsync(
            () => _log.All.Any(line => line.Text.Contains("cannot be put away", StringComparison.Ordinal)),
            "it is told",
            cancellationToken
        );
        var before = File.Exists(_server.At(".esb", "a.xml"));
        _marks.IsAway = false;

        await HoldsAsync(() => !File.Exists(_server.At(".esb", "a.xml")), "it is put away", cancellationToken);

        Assert.That((before, Intake.Messages.Count), Is.EqualTo((true, 1)));
    }

    [Test, Category("Thorough")]
    public async Task Files_are_taken_over_kills_of_the_server(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 60; i++)
            await _server.PutAsync($"{i:00}.xml", $"{i}", cancellationToken);
        await using var endpoint = await StartAsync(config => config with { MaxConcurrentCalls = 4, PoolSize = 4 }, cancellationToken);

        for (var kill = 1; kill <= 3; kill++)
        {
            await HoldsAsync(() => Intake.Messages.Count >= kill * 10, "some are taken", cancellationToken);
            await _server.KillAsync();
            await _server.StartAgainAsync();
        }

        await HoldsAsync(
            () => Files().Count == 0 && Directory.GetFiles(_server.At(".esb")).Length == 0,
            "all are taken",
            cancellationToken
        );
        var byId = Intake.Messages.GroupBy(message => message.Id).ToList();
        Assert.That(
            byId.Select(copies => copies.First().Body.ReadText()).Order(),
            Is.EqualTo(Enumerable.Range(0, 60).Select(i => $"{i}").Order()),
            "a copy has the id of the first"
        );
    }

    [Test, Property("Case", "FIL-07"), Property("Case", "FIL-10"), Property("Case", "FIL-11")]
    public async Task Hostile_entries_are_passed_over_and_told(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(Path.Combine(Path.GetDirectoryName(_server.Files)!, "secret"), "secret", cancellationToken);
        File.CreateSymbolicLink(_server.At("link.xml"), Path.Combine(Path.GetDirectoryName(_server.Files)!, "secret"));
        await SshServer.RunAsync("mkfifo", _server.At("pipe.xml"));
        await _server.PutAsync("line\nbreak.xml", "x", cancellationToken);
        await _server.PutAsync("back\\slash.xml", "x", cancellationToken);
        await _server.PutAsync("good.xml", "good", cancellationToken);

        await using var endpoint = await StartAsync(config => config, cancellationToken);
        await HoldsAsync(() => Intake.Messages.Count == 1, "the plain one is taken", cancellationToken);
        await endpoint.StopAsync(cancellationToken);

        Assert.That(Bodies, Is.EqualTo("good"));
        var told = _log
            .All.Select(line => line.Text.Split(':')[0])
            .Where(code => code.StartsWith("ESB-FILE", StringComparison.Ordinal))
            .Order();
        Assert.That(told, Is.EqualTo(["ESB-FILE-KIND", "ESB-FILE-LINK", "ESB-FILE-NAME", "ESB-FILE-NAME"]), "once each");
    }

    [Test, Property("Case", "FIL-10")]
    public async Task Folder_of_claims_that_is_a_link_gives_no_files_of_others(CancellationToken cancellationToken)
    {
        var others = Directory.CreateDirectory(Path.Combine(Path.GetDirectoryName(_server.Files)!, "others")).FullName;
        await File.WriteAllTextAsync(Path.Combine(others, "secret.xml"), "secret", cancellationToken);
        File.CreateSymbolicLink(_server.At(".esb"), others);
        await _server.PutAsync("a.xml", "a", cancellationToken);

        await using var endpoint = await StartAsync(config => config, cancellationToken);
        await HoldsAsync(
            () => _log.All.Any(line => line.Text.StartsWith("ESB-FILE-LINK", StringComparison.Ordinal)),
            "it is told",
            cancellationToken
        );

        Assert.That(
            (Intake.Messages.Count, File.Exists(_server.At("a.xml")), File.Exists(Path.Combine(others, "secret.xml"))),
            Is.EqualTo((0, true, true))
        );
    }

    [Test, Property("Case", "FIL-14")]
    public async Task Nothing_is_taken_where_files_may_not_be_renamed(CancellationToken cancellationToken)
    {
        await using var server = await SshServer.StartAsync("ForceCommand internal-sftp -R");
        await server.PutAsync("a.xml", "a", cancellationToken);

        await using var endpoint = SomeSftp.Inbound(SomeSftp.InboundConfig(server), Intake, _marks, _log);
        await endpoint.StartAsync(cancellationToken);
        await HoldsAsync(
            () => _log.All.Any(line => line.Text.StartsWith("ESB-SFTP-ACCESS", StringComparison.Ordinal)),
            "it is told",
            cancellationToken
        );
        await endpoint.StopAsync(cancellationToken);

        Assert.That((Intake.Messages.Count, File.Exists(server.At("a.xml"))), Is.EqualTo((0, true)));
    }

    [Test]
    public async Task Refused_file_goes_to_the_folder_of_errors_with_its_reason(CancellationToken cancellationToken)
    {
        Intake.Answer = (_, _) => throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed);
        await _server.PutAsync("bad.xml", "bad", cancellationToken);

        await using var endpoint = await StartAsync(config => config, cancellationToken);
        await HoldsAsync(() => File.Exists(_server.At("error", "bad.xml.reason.txt")), "it is put away", cancellationToken);

        Assert.That(
            await File.ReadAllTextAsync(_server.At("error", "bad.xml.reason.txt"), cancellationToken),
            Does.StartWith("ESB-XML-SYNTAX\nThe body is no XML.")
        );
        Assert.That(File.Exists(_server.At("error", "bad.xml")), Is.True);
    }

    [Test]
    public async Task Endpoint_pauses_for_a_wrong_host_key_and_reads_nothing(CancellationToken cancellationToken)
    {
        await _server.PutAsync("a.xml", "a", cancellationToken);

        await using var endpoint = await StartAsync(
            config => config with { HostKey = ["SHA256:" + new string('A', 43)] },
            cancellationToken
        );
        await HoldsAsync(
            () => _log.All.Any(line => line.Text.StartsWith("ESB-SFTP-HOSTKEY", StringComparison.Ordinal)),
            "it is told",
            cancellationToken
        );

        Assert.That((Intake.Messages.Count, File.Exists(_server.At("a.xml"))), Is.EqualTo((0, true)));
    }

    [Test, Category("Thorough"), CancelAfter(300_000), Property("Case", "FIL-17")]
    public async Task Ten_thousand_waiting_files_are_taken_in_bounded_memory(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 10_000; i++)
            await File.WriteAllTextAsync(_server.At($"{i:00000}.xml"), $"{i}", cancellationToken);
        long largest = 0;
        Intake.Answer = (_, _) =>
        {
            if (Random.Shared.Next(100) == 0)
                largest = Math.Max(largest, GC.GetTotalMemory(forceFullCollection: false));
            return Task.FromResult(Task.CompletedTask);
        };
        var before = GC.GetTotalMemory(forceFullCollection: true);

        await using var endpoint = await StartAsync(
            config => config with { MaxConcurrentCalls = 8, PoolSize = 8, MaxFiles = 1000 },
            cancellationToken
        );
        await HoldsAsync(
            () => Intake.Messages.Count == 10_000 && Files().Count == 0,
            "all are taken",
            cancellationToken,
            TimeSpan.FromMinutes(4)
        );

        Assert.That(largest - before, Is.LessThan(100 * 1024 * 1024));
    }

    private async Task<SftpInboundEndpoint> StartAsync(
        Func<SftpInboundConfig, SftpInboundConfig> change,
        CancellationToken cancellationToken
    )
    {
        var endpoint = SomeSftp.Inbound(change(SomeSftp.InboundConfig(_server)), Intake, _marks, _log);
        await endpoint.StartAsync(cancellationToken);
        return endpoint;
    }

    private List<string> Files() => [.. Directory.GetFiles(_server.Files).Select(file => Path.GetFileName(file)!)];

    private async Task HoldsAsync(Func<bool> condition, string what, CancellationToken cancellationToken, TimeSpan? patience = null)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            if (TimeProvider.System.GetElapsedTime(started) > (patience ?? Patience))
                Assert.Fail($"Waited in vain: {what}.\n{string.Join('\n', _log.All)}");
            await Task.Delay(20, cancellationToken);
        }
    }
}
