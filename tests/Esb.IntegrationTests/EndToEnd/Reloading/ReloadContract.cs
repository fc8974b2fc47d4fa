using System.Net;
using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Topics;

namespace Esb.IntegrationTests.EndToEnd.Reloading;

/// <summary>A host that goes on with another configuration while it works: what it has accepted arrives once, and what does not change
/// notices nothing.</summary>
[CancelAfter(180_000)]
public abstract class ReloadContract : ReloadFixture
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    [Test]
    public async Task Process_path_and_folder_are_those_of_the_new_configuration_from_then_on(CancellationToken cancellationToken)
    {
        var first = await PostAsync("/orders", cancellationToken);
        await WaitForAsync("files", [$"{first}-1"], cancellationToken);
        Json["processes"] = new JsonObject { ["in"] = Process("2") };
        Endpoints["shop"]!["path"] = "/shop";
        Endpoints["files"]!["folder"] = PathOf("others");
        var (exitCode, output, error) = await ReloadAsync(cancellationToken);

        var second = await PostAsync("/shop", cancellationToken);
        await WaitForAsync("others", [$"{second}-2"], cancellationToken);
        using var gone = await Host.PostAsync("/orders", "{}", "application/json", cancellationToken);

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(
            output,
            Does.Contain("replace endpoint shop")
                .And.Contain("replace endpoint files")
                .And.Contain("exchange processes")
                .And.Contain("is in service, in place of")
        );
        Assert.That(gone.StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
        Assert.That(Names("files"), Is.EquivalentTo(new[] { $"{first}-1" }));
    }

    [Test, Category("Thorough")]
    public async Task Filter_and_retry_are_exchanged_while_an_attempt_is_under_way(CancellationToken cancellationToken)
    {
        var (answering, answered) = (new TaskCompletionSource(), 0);
        await using var web = await ScriptedBackend.StartAsync(
            async (path, _) =>
            {
                if (path == "/1")
                    await answering.Task;
                Interlocked.Increment(ref answered);
                return (200, "{}");
            }
        );
        Endpoints["web"] = new JsonObject
        {
            ["type"] = "http-outbound",
            ["url"] = web.Url.OriginalString,
            ["path"] = "/{header.x-number}",
            ["subscribe"] = new JsonArray("orders.new"),
            ["poolSize"] = 2,
            ["processingThreads"] = 2,
        };
        Assert.That((await ReloadAsync(cancellationToken)).ExitCode, Is.Zero);
        var first = await PostAsync("/orders", cancellationToken, number: 1);
        await Host.WaitAsync(_ => Task.FromResult(web.CountOf("/1") == 1), Limit, "to begin an attempt", cancellationToken);

        Endpoints["web"]!["filter"] = new JsonObject { ["header"] = "x-number", ["equals"] = "2" };
        Endpoints["web"]!["retry"] = new JsonObject { ["immediate"] = 5 };
        var (exitCode, output, error) = await ReloadAsync(cancellationToken);
        var second = await PostAsync("/orders", cancellationToken, number: 2);
        var skipped = await PostAsync("/orders", cancellationToken, number: 3);
        await AwaitFactAsync(second, "delivered");
        await AwaitFactAsync(skipped, "filtered");
        var meanwhile = answered;
        answering.SetResult();
        await AwaitFactAsync(first, "delivered");

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(output, Does.Contain("exchange settings of endpoint web; its instances stay"));
        Assert.That(meanwhile, Is.EqualTo(1), "the attempt was still under way");
        Assert.That(web.Requests.Select(request => request.Path), Is.EqualTo(new[] { "/1", "/2" }));

        Task AwaitFactAsync(string id, string kind) =>
            Host.WaitAsync(
                async token =>
                    await CountAsync(
                        $"id={id}",
                        fact =>
                            fact.GetProperty("kind").GetString() == kind
                            && fact.TryGetProperty("endpoint", out var endpoint)
                            && endpoint.GetString() == "web",
                        token
                    ) == 1,
                Limit,
                $"to record that {id} was {kind}",
                cancellationToken
            );
    }

    [Test, Property(OwnHost, "queues stay")]
    public async Task Nothing_is_lost_doubled_or_turned_away_while_endpoints_change_come_and_go_under_load(
        CancellationToken cancellationToken
    )
    {
        using var sending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = Enumerable.Range(0, 4).Select(_ => SendAsync(sending.Token)).ToList();
        for (var round = 0; round < 12; round++)
        {
            Change(round);
            await WriteAsync();
            await Host.TellAsync("/api/configuration/reload", cancellationToken);
        }

        await sending.CancelAsync();
        var accepted = (await Task.WhenAll(load)).SelectMany(ids => ids).ToList();
        Assert.That(accepted, Has.Count.GreaterThan(50));
        await Host.WaitAsync(
            _ => Task.FromResult(Ids("files", "others").Count >= accepted.Count),
            TimeSpan.FromSeconds(60),
            $"to deliver {accepted.Count} messages",
            cancellationToken
        );
        Assert.That(Ids("files", "others"), Is.EquivalentTo(accepted), "each arrives at the endpoint that changes, once");
    }

    [Test, Category("Thorough"), Property(OwnHost, "is restarted")]
    public async Task Order_holds_while_the_endpoint_that_keeps_it_changes(CancellationToken cancellationToken)
    {
        Endpoints["files"] = Files("ordered");
        Endpoints["files"]!["delivery"] = "ordered";
        Endpoints["files"]!["fileName"] = "{header.x-number}.json";
        Json["name"] = $"reload-{Guid.NewGuid():N}"; // with queues of its own
        await RestartAsync(cancellationToken);
        var written = new List<string>();
        using var watch = new FileSystemWatcher(Directory.CreateDirectory(PathOf("ordered")).FullName) { EnableRaisingEvents = true };
        watch.Renamed += (_, file) => Note(written, file.Name);
        watch.Created += (_, file) => Note(written, file.Name);

        var sent = 0;
        for (var round = 0; round < 6; round++)
        {
            for (var i = 0; i < 20; i++)
                await PostAsync("/orders", cancellationToken, number: ++sent);
            Endpoints["files"]!["retry"] = new JsonObject { ["immediate"] = round % 3, ["delays"] = new JsonArray() };
            var (exitCode, output, error) = await ReloadAsync(cancellationToken);
            Assert.That(exitCode, Is.Zero, error);
            Assert.That(output, Does.Contain("exchange settings of endpoint files; its instances stay"));
        }

        await Host.WaitAsync(
            _ => Task.FromResult(Names("ordered").Count == sent),
            TimeSpan.FromSeconds(60),
            $"to write {sent} files",
            cancellationToken
        );
        lock (written)
            Assert.That(written.Distinct().Select(int.Parse), Is.Ordered);
    }

    [Test]
    public async Task What_is_refused_changes_nothing_and_readiness_says_so_until_it_is_mended(CancellationToken cancellationToken)
    {
        var running = (await Host.AskAsync("/api/configuration", cancellationToken)).GetProperty("revision").GetString();
        Endpoints["files"]!["type"] = "file-outbund";
        Endpoints["shop"]!["process"] = "unknown";
        var (exitCode, _, error) = await ReloadAsync(cancellationToken);
        var refused = await ReadyAsync(cancellationToken);
        var id = await PostAsync("/orders", cancellationToken);
        await WaitForAsync("files", [$"{id}-1"], cancellationToken);

        Endpoints["files"]!["type"] = "file-outbound";
        Endpoints["shop"]!["process"] = "in";
        var mended = await ReloadAsync(cancellationToken);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(
            error,
            Does.Contain("what runs keeps running")
                .And.Contain("endpoints.files.type")
                .And.Contain("endpoints.shop.process")
                .And.Contain("esb.json:")
        );
        Assert.That(refused.GetProperty("ready").GetBoolean(), Is.True);
        Assert.That(
            refused.GetProperty("notices").EnumerateArray().Select(notice => notice.GetString()),
            Has.One.Match($"revision [0-9a-f]{{12}} was refused with 2 errors; revision {running} runs on")
        );
        Assert.That(mended.ExitCode, Is.Zero, mended.Error);
        Assert.That((await ReadyAsync(cancellationToken)).GetProperty("notices").GetArrayLength(), Is.Zero);
    }

    [TestCase("transport", "ESB-CONFIG-RESTART", Category = "Thorough")]
    [TestCase("name", "ESB-CONFIG-RESTART", Category = "Thorough")]
    [TestCase("endpoints.files.delivery", "ESB-CONFIG-MIGRATION")]
    public async Task What_needs_more_than_an_exchange_is_refused(string path, string code, CancellationToken cancellationToken)
    {
        if (path == "transport")
            Json["transport"] = KeepsWhatWaits
                ? new JsonObject { ["type"] = "memory" }
                : new JsonObject { ["type"] = "rabbitmq", ["url"] = "${env:ESB_RABBITMQ}" };
        else if (path == "name")
            Json["name"] = "another";
        else
            Endpoints["files"]!["delivery"] = "ordered";
        var (exitCode, _, error) = await ReloadAsync(cancellationToken);

        Assert.That(exitCode, Is.Not.Zero);
        Assert.That(error, Does.Contain(code).And.Contain(path));
        var id = await PostAsync("/orders", cancellationToken);
        await WaitForAsync("files", [$"{id}-1"], cancellationToken);
    }

    [Test, Category("Thorough"), Property(OwnHost, "an endpoint was paused")]
    public async Task Endpoint_that_an_operator_has_paused_stays_so_and_delivers_what_waited_once_it_goes_on(
        CancellationToken cancellationToken
    )
    {
        Assert.That((await EsbAsync(cancellationToken, "endpoints", "pause", "files")).ExitCode, Is.Zero);
        var before = await PostAsync("/orders", cancellationToken);
        Endpoints["files"]!["folder"] = PathOf("others");
        Assert.That((await ReloadAsync(cancellationToken)).ExitCode, Is.Zero);
        var after = await PostAsync("/orders", cancellationToken);
        var states = (await Host.AskAsync("/api/endpoints/files", cancellationToken)).GetProperty("state").GetString();
        var whilePaused = Names("others").Count;
        Assert.That((await EsbAsync(cancellationToken, "endpoints", "resume", "files")).ExitCode, Is.Zero);
        await WaitForAsync("others", [$"{before}-1", $"{after}-1"], cancellationToken);

        Assert.That((states, whilePaused), Is.EqualTo(("paused-by-operator", 0)));
    }

    [Test, Category("Thorough"), Property(OwnHost, "an endpoint was paused")]
    public async Task What_waits_for_an_endpoint_that_is_gone_is_not_lost(CancellationToken cancellationToken)
    {
        Assert.That((await EsbAsync(cancellationToken, "endpoints", "pause", "files")).ExitCode, Is.Zero);
        var waiting = await PostAsync("/orders", cancellationToken);
        Endpoints.Remove("files");
        await WriteAsync();
        var plan = (await EsbAsync(cancellationToken, "plan", Configuration)).Output;
        Assert.That(plan, Does.Contain("remove endpoint files"));
        if (KeepsWhatWaits)
            Assert.That(plan, Does.Contain("queues of files").And.Contain("messages that wait there and stay, without a consumer: 1"));
        Assert.That((await ReloadAsync(cancellationToken)).ExitCode, Is.Zero);
        await PostAsync("/orders", cancellationToken); // for nobody
        if (!KeepsWhatWaits)
        {
            await Host.WaitAsync(
                async token =>
                    (await Host.AskAsync("/api/dead-letters", token))
                        .GetProperty("items")
                        .EnumerateArray()
                        .Any(letter => letter.GetProperty("code").GetString() == "ESB-ENDPOINT-REMOVED"),
                TimeSpan.FromSeconds(20),
                "to keep a dead letter",
                cancellationToken
            );
            return;
        }

        var notice = (await ReadyAsync(cancellationToken)).GetProperty("notices").EnumerateArray().Select(one => one.GetString());
        Assert.That(notice, Has.One.StartsWith("1 message waits in the queues of the endpoint files"));
        Endpoints["files"] = Files("files");
        Assert.That((await ReloadAsync(cancellationToken)).ExitCode, Is.Zero);
        Assert.That((await EsbAsync(cancellationToken, "endpoints", "resume", "files")).ExitCode, Is.Zero, "its pause outlasts revisions");
        await WaitForAsync("files", [$"{waiting}-1"], cancellationToken);
        Assert.That((await ReadyAsync(cancellationToken)).GetProperty("notices").GetArrayLength(), Is.Zero);
    }

    [Test]
    public async Task Limits_and_the_mode_of_the_audit_change_while_it_works(CancellationToken cancellationToken)
    {
        Json["limits"] = new JsonObject { ["maxBodySize"] = "1B", ["claimCheck"] = "1KiB" };
        Json["audit"] = new JsonObject { ["mode"] = "strict", ["maxConcurrentInstances"] = 3 };
        var (exitCode, _, error) = await ReloadAsync(cancellationToken);
        var tooLarge = await PostedAsync("/orders", cancellationToken);
        var sentTooLarge = await EsbAsync(cancellationToken, "send", "orders.new", "--file", Configuration);
        Json["limits"] = new JsonObject();
        var back = await ReloadAsync(cancellationToken);
        var id = await PostAsync("/orders", cancellationToken);
        await WaitForAsync("files", [$"{id}-1"], cancellationToken);

        Assert.That((exitCode, back.ExitCode), Is.EqualTo((0, 0)), error + back.Error);
        Assert.That(tooLarge.StatusCode, Is.EqualTo(HttpStatusCode.RequestEntityTooLarge));
        Assert.That(sentTooLarge.Error, Does.StartWith("ESB-BODY-SIZE"));
    }

    [Test, Category("Thorough")]
    public async Task Hosts_of_a_listener_change_while_it_listens_and_its_socket_does_not(CancellationToken cancellationToken)
    {
        Json["listeners"] = new JsonObject { ["public"] = new JsonObject { ["hosts"] = new JsonArray("shop.example.com") } };
        var changed = await ReloadAsync(cancellationToken);
        using var stranger = await PostedAsync("/orders", cancellationToken);
        Json["listeners"]!["public"]!["backlog"] = 100;
        var refused = await ReloadAsync(cancellationToken);
        Json.Remove("listeners");
        var back = await ReloadAsync(cancellationToken);
        var id = await PostAsync("/orders", cancellationToken);
        await WaitForAsync("files", [$"{id}-1"], cancellationToken);

        Assert.That((changed.ExitCode, back.ExitCode), Is.EqualTo((0, 0)), changed.Error + back.Error);
        Assert.That(await stranger.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-HTTP-HOST"));
        Assert.That(refused.ExitCode, Is.Not.Zero);
        Assert.That(refused.Error, Does.Contain("ESB-CONFIG-RESTART").And.Contain("listeners.public"));
    }

    [Test]
    public async Task SIGHUP_reloads(CancellationToken cancellationToken)
    {
        Endpoints["shop"]!["path"] = "/signalled";
        await WriteAsync();
        await Host.SignalAsync("HUP");

        await Host.WaitAsync(
            async token => (await PostedAsync("/signalled", token)).StatusCode == HttpStatusCode.Accepted,
            TimeSpan.FromSeconds(20),
            "to reload",
            cancellationToken
        );
    }

    [Test, Category("Thorough")]
    public async Task Plan_shows_what_a_reload_would_do_and_changes_nothing(CancellationToken cancellationToken)
    {
        var running = (await Host.AskAsync("/api/configuration", cancellationToken)).GetProperty("revision").GetString();
        var elsewhere = Path.Combine(Folder.CreateSubdirectory("elsewhere").FullName, "next.json");
        Json["processes"] = new JsonObject { ["in"] = Process("2") };
        Endpoints["added"] = Files("added");
        Endpoints["files"]!["delivery"] = "ordered";
        Json["store"] = new JsonObject { ["type"] = "file", ["folder"] = "another" };
        await File.WriteAllTextAsync(elsewhere, Json.ToJsonString(), cancellationToken);
        var planned = await EsbAsync(cancellationToken, "plan", elsewhere);
        Endpoints["added"]!["type"] = "file-outbund";
        await File.WriteAllTextAsync(elsewhere, Json.ToJsonString(), cancellationToken);
        var wrong = await EsbAsync(cancellationToken, "plan", elsewhere);
        var id = await PostAsync("/orders", cancellationToken);
        await WaitForAsync("files", [$"{id}-1"], cancellationToken);

        Assert.That(planned.ExitCode, Is.Zero, planned.Error);
        Assert.That(
            planned.Output,
            Does.Contain($"Revision {running} runs, and this is ")
                .And.Contain("start endpoint added")
                .And.Contain("exchange processes")
                .And.Contain("ESB-CONFIG-RESTART store")
        );
        Assert.That(
            planned.Output,
            Does.Contain(KeepsWhatWaits ? "esb reload --migrate" : "ESB-CONFIG-MIGRATION endpoints.files.delivery")
        );
        Assert.That((wrong.ExitCode, wrong.Error), Is.EqualTo((2, wrong.Error)));
        Assert.That(wrong.Error, Does.Contain("endpoints.added.type").And.Contain("(next.json:1:").And.Not.Contain("esb-plan-"));
        Assert.That(
            (await Host.AskAsync("/api/configuration", cancellationToken)).GetProperty("revision").GetString(),
            Is.EqualTo(running)
        );
    }

    [Test]
    public async Task What_the_host_tells_of_itself_changes_while_it_works(CancellationToken cancellationToken)
    {
        Json["telemetry"] = new JsonObject
        {
            ["logLevel"] = "debug",
            ["logFolder"] = PathOf("logs"),
            ["counters"] = false,
        };
        Endpoints["added"] = Files("added");
        var (exitCode, _, error) = await ReloadAsync(cancellationToken);
        var level = (await Host.AskAsync("/api/log", cancellationToken)).GetProperty("default").GetString();
        var metrics = await Host.FindAsync("/api/metrics", cancellationToken);
        await EsbAsync(cancellationToken, "endpoints", "pause", "added");
        Json["telemetry"] = new JsonObject();
        var back = await ReloadAsync(cancellationToken);

        Assert.That(exitCode, Is.Zero, error);
        Assert.That((level, metrics), Is.EqualTo(("debug", (JsonElement?)null)));
        Assert.That(
            Directory.GetFiles(PathOf("logs")).Select(Path.GetFileName),
            Is.EquivalentTo(new[] { "host.log", "added.log" }),
            "what is about an endpoint has a file of its own"
        );
        Assert.That(back.ExitCode, Is.Zero, back.Error);
        Assert.That((await Host.AskAsync("/api/log", cancellationToken)).GetProperty("default").GetString(), Is.EqualTo("information"));
    }

    [Test, Category("Thorough"), Property(OwnHost, "watch")]
    public async Task Files_are_watched_where_the_configuration_says_so(CancellationToken cancellationToken)
    {
        Endpoints["shop"]!["path"] = "/watched";
        await WriteAsync();

        await Host.WaitAsync(
            async token => (await PostedAsync("/watched", token)).StatusCode == HttpStatusCode.Accepted,
            TimeSpan.FromSeconds(30),
            "to reload",
            cancellationToken
        );
    }

    [Test, Category("Thorough"), Property(OwnHost, "watch"), Property("Case", "CFG-37"), Property("Case", "CFG-38")]
    public async Task File_that_is_gone_or_half_written_is_refused_once_and_loaded_when_it_is_whole(CancellationToken cancellationToken)
    {
        File.Delete(Configuration);
        await AwaitRefusalsAsync(1, cancellationToken);
        Endpoints["shop"]!["path"] = "/whole";
        var text = Json.ToJsonString();
        await File.WriteAllTextAsync(Configuration, text[..(text.Length / 2)], cancellationToken);
        await AwaitRefusalsAsync(2, cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(5), cancellationToken); // some looks of the watcher
        using (var answer = await PostedAsync("/orders", cancellationToken))
            Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), "what ran runs on");
        Assert.That(Refusals(), Is.EqualTo(2), "told once for each state of the file");
        var notices = (await ReadyAsync(cancellationToken)).GetProperty("notices").GetRawText();
        await WriteAsync();
        await Host.WaitAsync(
            async token => (await PostedAsync("/whole", token)).StatusCode == HttpStatusCode.Accepted,
            TimeSpan.FromSeconds(30),
            "to reload",
            cancellationToken
        );

        Assert.That(notices, Does.Contain("was refused with"));
        await Host.WaitAsync( // requests reach the new revision before the reload ends
            async token =>
                !(await ReadyAsync(token)).GetProperty("notices").GetRawText().Contains("was refused with", StringComparison.Ordinal),
            TimeSpan.FromSeconds(30),
            "to take the notice back",
            cancellationToken
        );

        int Refusals() => Host.Output.Split("wanted reloaded is refused").Length - 1;

        Task AwaitRefusalsAsync(int count, CancellationToken token) =>
            Host.WaitAsync(_ => Task.FromResult(Refusals() == count), TimeSpan.FromSeconds(30), "to refuse the file", token);
    }

    [Test, Category("Thorough")]
    public async Task Who_reloaded_what_is_a_fact_and_later_facts_name_the_revision(CancellationToken cancellationToken)
    {
        var before = (await Host.AskAsync("/api/configuration", cancellationToken)).GetProperty("revision").GetString();
        Json["processes"] = new JsonObject { ["in"] = Process("2") };
        Assert.That((await ReloadAsync(cancellationToken)).ExitCode, Is.Zero);
        var after = (await Host.AskAsync("/api/configuration", cancellationToken)).GetProperty("revision").GetString();
        var id = await PostAsync("/orders", cancellationToken);

        await Host.WaitAsync(
            async token =>
                await CountAsync(
                    "kind=recorded",
                    fact =>
                        fact.GetProperty("name").GetString() == "configuration"
                        && fact.GetProperty("fields").GetProperty("after").GetString() == after,
                    token
                ) == 1,
            TimeSpan.FromSeconds(20),
            "to record the reload",
            cancellationToken
        );
        await Host.WaitAsync(
            async token => await CountAsync($"id={id}", fact => fact.GetProperty("revision").GetString() == after, token) > 0,
            TimeSpan.FromSeconds(20),
            "to record the message",
            cancellationToken
        );
        Assert.That(after, Is.Not.EqualTo(before));
    }
}

/// <inheritdoc/>
[Category("Thorough")]
public sealed class EmbeddedReloadTests : ReloadContract
{
    private protected override JsonObject Transport => new() { ["type"] = "memory" };

    private protected override bool KeepsWhatWaits => false;
}

/// <inheritdoc/>
public sealed class ServerReloadTests : ReloadContract
{
    private protected override JsonObject Transport =>
        new()
        {
            ["type"] = "rabbitmq",
            ["url"] = "${env:ESB_RABBITMQ}",
            ["prefix"] = $"test-{Guid.NewGuid():N}",
        };

    private protected override bool KeepsWhatWaits => true;
}
