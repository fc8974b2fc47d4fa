using System.Text.Json;

namespace Esb.IntegrationTests.Adapters;

/// <summary>What is promised of every adapter, on a whole host, beside a real server: over cuts, silence, kills and wrong credentials, and
/// while operators change it.</summary>
/// <typeparam name="TSystem">The adapter and its system.</typeparam>
[TestFixture(typeof(SftpInboundSystem))]
[TestFixture(typeof(SftpOutboundSystem))]
[TestFixture(typeof(SqlInboundSystem))]
[TestFixture(typeof(SqlOutboundSystem))]
[TestFixture(typeof(MassTransitInboundSystem))]
[TestFixture(typeof(MassTransitOutboundSystem))]
[TestFixture(typeof(AmqpInboundSystem))]
[TestFixture(typeof(AmqpOutboundSystem))]
[TestFixture(typeof(HttpOutboundSystem))]
[TestFixture(typeof(SoapOutboundSystem))]
[TestFixture(typeof(MailOutboundSystem))]
[TestFixture(typeof(TimerSystem))]
[Category("Thorough"), CancelAfter(300_000)]
internal sealed class AdapterSuite<TSystem>
    where TSystem : AdapterSystem, new()
{
    private static readonly long[] Cuts = [0, 30, 150, 600, 1_500, 4_000];

    private TSystem _system = null!;
    private AdapterHost _host = null!;

    [SetUp]
    public async Task StartSystem()
    {
        _system = new TSystem();
        await _system.StartAsync();
        _host = new AdapterHost(_system);
    }

    [TearDown]
    public async Task StopSystem()
    {
        await _host.DisposeAsync();
        await _system.DisposeAsync();
    }

    [Test]
    public async Task Nothing_is_lost_over_connections_that_are_cut_at_every_step(CancellationToken cancellationToken)
    {
        Needs(_system.IsRemote, "the adapter has no connection");
        await StartHostAsync(cancellationToken);
        var items = 0;

        foreach (var (bytes, fromServer) in Cuts.SelectMany(bytes => new[] { (bytes, true), (bytes, false) }))
        {
            var (before, began) = (_system.Proxy.Accepted, items);
            await _system.Proxy.CutAfterAsync(bytes, fromServer);
            for (var i = 0; i < 4; i++)
                await _host.PutAsync(items++, cancellationToken);
            await _host.WaitAsync(
                async token => _system.Proxy.Accepted > before || (await _host.ArrivedAsync(token)).Any(item => item.Number >= began),
                "to meet the cut, or to pass an item before it",
                cancellationToken
            );
            await _system.Proxy.HealAsync();
        }

        await _host.WaitForArrivalsAsync(items, cancellationToken);
        await _host.AssertNoneLostAsync(items, cancellationToken);
        Assert.That(_system.Proxy.Accepted, Is.GreaterThan(Cuts.Length), "connections were lost");
    }

    [Test]
    public async Task Order_is_kept_over_connections_that_are_reset(CancellationToken cancellationToken)
    {
        const int rounds = 5;
        const int each = 5;
        Needs(_system.KeepsOrder, "an item that is tried again comes later");
        _system.AtOnce = 1;
        await _host.ConfigureAsync(ordered: true);
        await _host.StartAsync(cancellationToken);

        for (var round = 0; round < rounds; round++)
        {
            for (var item = 0; item < each; item++)
                await _host.PutAsync((round * each) + item, cancellationToken);
            await _host.WaitForArrivalsAsync((round * each) + 1, cancellationToken);
            await _system.Proxy.ResetAsync();
            await _system.Proxy.HealAsync();
        }

        await _host.WaitForArrivalsAsync(rounds * each, cancellationToken);
        await _host.AssertNoneLostAsync(rounds * each, cancellationToken);
        var firsts = (await _host.ArrivedAsync(cancellationToken)).DistinctBy(item => item.Id).Select(item => item.Number);
        Assert.That(firsts, Is.Ordered);
    }

    [Test]
    public async Task System_that_falls_silent_is_told_and_nothing_is_lost(CancellationToken cancellationToken)
    {
        Needs(_system.IsRemote, "the adapter has no connection");
        await StartHostAsync(cancellationToken);
        await _host.PutAsync(0, cancellationToken);
        await _host.WaitForArrivalsAsync(1, cancellationToken);

        await _system.Proxy.StallAsync();
        for (var item = 1; item < 5; item++)
            await _host.PutAsync(item, cancellationToken);
        await _host.WaitForTroubleAsync(cancellationToken);
        var during = (await _host.ArrivedAsync(cancellationToken)).Count;
        await _system.Proxy.HealAsync();
        await _host.WaitForArrivalsAsync(5, cancellationToken);

        Assert.That(during, Is.LessThan(5));
        await _host.AssertNoneLostAsync(5, cancellationToken);
    }

    [Test]
    public async Task Wrong_credential_is_told_and_items_pass_once_it_is_corrected(CancellationToken cancellationToken)
    {
        Needs(_system.ChecksCredential, "the adapter has no credential that the system checks before it takes items");
        await _host.ConfigureAsync(AdapterSystem.Wrong);
        await _host.StartAsync(cancellationToken);
        for (var item = 0; item < 3; item++)
            await _host.PutAsync(item, cancellationToken);
        await _host.WaitForTroubleAsync(cancellationToken);
        var before = (await _host.ArrivedAsync(cancellationToken)).Count;

        await _host.ConfigureAsync(AdapterSystem.Right);
        await _host.TellAsync("/api/configuration/reload", cancellationToken);
        await _host.WaitForArrivalsAsync(3, cancellationToken);

        Assert.That(before, Is.Zero);
        await _host.AssertNoneLostAsync(3, cancellationToken);
    }

    [Test]
    public async Task Nothing_is_lost_when_the_host_is_killed_at_work(CancellationToken cancellationToken)
    {
        const int items = 60;
        Needs(_system.IsRemote, "its kills have tests of their own");
        await _system.Proxy.DelayAsync(TimeSpan.FromMilliseconds(5), TimeSpan.Zero); // so that the kill meets it at work
        await StartHostAsync(cancellationToken);
        for (var item = 0; item < items; item++)
            await _host.PutAsync(item, cancellationToken);

        await _host.WaitForArrivalsAsync(5, cancellationToken);
        await _host.KillAsync();
        await _system.Proxy.HealAsync();
        await _host.StartAsync(cancellationToken);
        await _host.WaitForArrivalsAsync(items, cancellationToken);

        await _host.AssertNoneLostAsync(items, cancellationToken);
    }

    [Test]
    public async Task What_an_operator_does_holds(CancellationToken cancellationToken)
    {
        await ConfigureAsync();
        await _host.StartAsync(cancellationToken);
        await PassAsync(0, cancellationToken);

        await PauseAsync(true, "paused-by-operator", cancellationToken);
        var arrived = 0;
        await _host.WaitAsync(
            async token =>
                (arrived = (await _host.ArrivedAsync(token)).Count) == (await _host.StatusAsync(token)).GetProperty("messages").GetInt32(),
            "to pass on what was under way",
            cancellationToken
        );
        await _host.PutAsync(1, cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken); // looks and ticks of a second
        var whilePaused = (await _host.ArrivedAsync(cancellationToken)).Count;
        await PauseAsync(false, "running", cancellationToken);
        await _host.WaitForArrivalsAsync(arrived + 1, cancellationToken);
        Assert.That(whilePaused, Is.EqualTo(arrived), "a paused endpoint passes nothing on");

        await TuneAsync(cancellationToken);
        await ReloadAsync(cancellationToken);
        await TraceAsync(2, cancellationToken);
        await AssertShownAsync(cancellationToken);
    }

    private static void Needs(bool condition, string reason)
    {
        if (!condition)
            Assert.Ignore($"Not of {typeof(TSystem).Name}: {reason}.");
    }

    private async Task StartHostAsync(CancellationToken cancellationToken)
    {
        await _host.ConfigureAsync();
        await _host.StartAsync(cancellationToken);
    }

    // With a process, whose steps a trace records.
    private Task ConfigureAsync(string more = "") =>
        _system.IsInbound
            ? _host.ConfigureAsync(target: "\"process\": \"pass\"", more: more)
            : _host.ConfigureAsync(more: $", \"process\": \"mark\"{more}");

    private async Task PassAsync(int item, CancellationToken cancellationToken)
    {
        var before = (await _host.ArrivedAsync(cancellationToken)).Count;
        await _host.PutAsync(item, cancellationToken);
        await _host.WaitForArrivalsAsync(before + 1, cancellationToken);
    }

    private async Task PauseAsync(bool paused, string state, CancellationToken cancellationToken)
    {
        await _host.SendAsync(HttpMethod.Patch, "/api/endpoints/partner", new { paused }, cancellationToken);
        await _host.WaitForStateAsync(state, cancellationToken);
    }

    // Of an inbound endpoint the amount that is recorded, of an outbound one its rate, too.
    private async Task TuneAsync(CancellationToken cancellationToken)
    {
        object tuning = _system.IsInbound ? new { audit = "whole" } : new { audit = "whole", rate = 50 };
        await _host.SendAsync(HttpMethod.Patch, "/api/endpoints/partner", tuning, cancellationToken);

        var tuned = (await _host.StatusAsync(cancellationToken)).GetProperty("tuned").EnumerateArray();
        Assert.That(
            tuned.Select(one => one.GetProperty("setting").GetString()),
            Is.EquivalentTo(_system.IsInbound ? new[] { "audit" } : ["audit", "rate"])
        );
    }

    // A window of hours that is closed holds an inbound endpoint; an outbound one gets more threads.
    private async Task ReloadAsync(CancellationToken cancellationToken)
    {
        if (!_system.IsInbound)
        {
            await ConfigureAsync(", \"prefetch\": 77");
            await _host.TellAsync("/api/configuration/reload", cancellationToken);
            var current = (await _host.StatusAsync(cancellationToken)).GetProperty("current");
            Assert.That((current.GetProperty("prefetch").GetInt32(), current.GetProperty("rate").GetInt32()), Is.EqualTo((77, 50)));
            return;
        }

        var closed = TimeProvider.System.GetUtcNow().AddHours(3);
        await ConfigureAsync($$""", "schedule": { "from": "{{closed:HH}}:00", "to": "{{closed.AddHours(1):HH}}:00", "timeZone": "UTC" }""");
        await _host.TellAsync("/api/configuration/reload", cancellationToken);
        await _host.WaitForStateAsync("paused", cancellationToken);
        Assert.That(
            (await _host.StatusAsync(cancellationToken)).GetProperty("reason").GetString(),
            Does.StartWith("closed by its schedule")
        );
        await ConfigureAsync();
        await _host.TellAsync("/api/configuration/reload", cancellationToken);
        await _host.WaitForStateAsync("running", cancellationToken);
    }

    private async Task TraceAsync(int item, CancellationToken cancellationToken)
    {
        var trace = await _host.SendAsync(HttpMethod.Post, "/api/traces", new { endpoint = "partner" }, cancellationToken);
        var id = trace.GetProperty("id").GetString();
        await PassAsync(item, cancellationToken);

        JsonElement messages = default;
        await _host.WaitAsync(
            async token => (messages = (await _host.AskAsync($"/api/traces/{id}", token)).GetProperty("messages")).GetArrayLength() > 0,
            "to record the message",
            cancellationToken
        );
        var pass = messages[0].GetProperty("id").GetString();
        var message = await _host.AskAsync($"/api/traces/{id}/messages/{pass}", cancellationToken);
        Assert.That(
            message.GetProperty("bodies").EnumerateArray().Select(body => body.GetProperty("text").GetString()),
            Has.Some.Contains("number")
        );
    }

    // State, counters and facts.
    private async Task AssertShownAsync(CancellationToken cancellationToken)
    {
        var status = await _host.StatusAsync(cancellationToken);
        JsonElement facts = default;
        await _host.WaitAsync(
            async token =>
                (facts = (await _host.AskAsync("/api/messages?endpoint=partner", token)).GetProperty("items")).GetArrayLength() > 0,
            "to record facts",
            cancellationToken
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That(status.GetProperty("state").GetString(), Is.EqualTo("running"));
            Assert.That(status.GetProperty("messages").GetInt64(), Is.GreaterThan(0), $"{status}");
            Assert.That(await _host.IsReadyAsync(cancellationToken), Is.True);
        }
    }
}
