using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

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
[TestFixture(typeof(FileInboundSystem))]
[TestFixture(typeof(FileOutboundSystem))]
[TestFixture(typeof(HttpInboundSystem))]
[TestFixture(typeof(SoapInboundSystem))]
[TestFixture(typeof(TimerSystem))]
[Category("Thorough"), CancelAfter(300_000)]
internal sealed class AdapterSuite<TSystem> : AdapterFixture<TSystem>
    where TSystem : AdapterSystem, new()
{
    private static readonly long[] Cuts = [0, 30, 150, 600, 1_500, 4_000];

    [Test]
    public async Task Nothing_is_lost_over_connections_that_are_cut_at_every_step(CancellationToken cancellationToken)
    {
        Needs(System.IsRemote, "the adapter has no connection");
        await StartHostAsync(cancellationToken);
        var items = 0;

        foreach (var (bytes, fromServer) in Cuts.SelectMany(bytes => new[] { (bytes, true), (bytes, false) }))
        {
            var (before, began) = (System.Proxy.Accepted, items);
            await System.Proxy.CutAfterAsync(bytes, fromServer);
            for (var i = 0; i < 4; i++)
                await Host.PutAsync(items++, cancellationToken);
            await Host.WaitAsync(
                async token => System.Proxy.Accepted > before || (await Host.ArrivedAsync(token)).Any(item => item.Number >= began),
                "to meet the cut, or to pass an item before it",
                cancellationToken
            );
            await System.Proxy.HealAsync();
        }

        await Host.WaitForArrivalsAsync(items, cancellationToken);
        await Host.AssertNoneLostAsync(items, cancellationToken);
        Assert.That(System.Proxy.Accepted, Is.GreaterThan(Cuts.Length), "connections were lost");
    }

    [Test]
    public async Task Order_is_kept_over_connections_that_are_reset(CancellationToken cancellationToken)
    {
        const int rounds = 5;
        const int each = 5;
        Needs(System.KeepsOrder, "an item that is tried again comes later");
        System.AtOnce = 1;
        await Host.ConfigureAsync(ordered: true);
        await Host.StartAsync(cancellationToken);

        for (var round = 0; round < rounds; round++)
        {
            for (var item = 0; item < each; item++)
                await Host.PutAsync((round * each) + item, cancellationToken);
            await Host.WaitForArrivalsAsync((round * each) + 1, cancellationToken);
            await System.Proxy.ResetAsync();
            await System.Proxy.HealAsync();
        }

        await Host.WaitForArrivalsAsync(rounds * each, cancellationToken);
        await Host.AssertNoneLostAsync(rounds * each, cancellationToken);
        var firsts = (await Host.ArrivedAsync(cancellationToken)).DistinctBy(item => item.Id).Select(item => item.Number);
        Assert.That(firsts, Is.Ordered);
    }

    [Test]
    public async Task System_that_falls_silent_is_told_and_nothing_is_lost(CancellationToken cancellationToken)
    {
        Needs(System.IsRemote, "the adapter has no connection");
        await StartHostAsync(cancellationToken);
        await Host.PutAsync(0, cancellationToken);
        await Host.WaitForArrivalsAsync(1, cancellationToken);

        await System.Proxy.StallAsync();
        for (var item = 1; item < 5; item++)
            await Host.PutAsync(item, cancellationToken);
        await Host.WaitForTroubleAsync(cancellationToken);
        var during = (await Host.ArrivedAsync(cancellationToken)).Count;
        await System.Proxy.HealAsync();
        await Host.WaitForArrivalsAsync(5, cancellationToken);

        Assert.That(during, Is.LessThan(5));
        await Host.AssertNoneLostAsync(5, cancellationToken);
    }

    [Test]
    public async Task Wrong_credential_is_told_and_items_pass_once_it_is_corrected(CancellationToken cancellationToken)
    {
        Needs(System.IsRemote, "the adapter has no credential");
        await Host.ConfigureAsync(AdapterSystem.Wrong);
        await Host.StartAsync(cancellationToken);
        for (var item = 0; item < 3; item++)
            await Host.PutAsync(item, cancellationToken);
        if (System.GivesRefusedUp)
            await Host.WaitForDeadLettersAsync(3, cancellationToken);
        else
            await Host.WaitForTroubleAsync(cancellationToken);
        var before = (await Host.ArrivedAsync(cancellationToken)).Count;

        await Host.ConfigureAsync(AdapterSystem.Right);
        await Host.TellAsync("/api/configuration/reload", cancellationToken);
        if (System.GivesRefusedUp)
            await Host.SendAsync(HttpMethod.Post, "/api/replays", new { filter = new { endpoint = "partner" } }, cancellationToken);
        await Host.WaitForArrivalsAsync(3, cancellationToken);
        await Host.WaitForDeadLettersAsync(0, cancellationToken);

        Assert.That(before, Is.Zero);
        await Host.AssertNoneLostAsync(3, cancellationToken);
    }

    [Test]
    [OwnProcess]
    public async Task Nothing_is_lost_when_the_host_is_killed_at_work(CancellationToken cancellationToken)
    {
        Needs(System.TakesItems, "its kills have tests of their own");
        var items = System.IsRemote ? 60 : 1_000; // so many, or so slowly, that the kill meets it at work
        if (System.IsRemote)
            await System.Proxy.DelayAsync(TimeSpan.FromMilliseconds(5), TimeSpan.Zero);
        await StartHostAsync(cancellationToken);
        await Host.PauseAsync(true, cancellationToken);
        for (var item = 0; item < items; item++)
            await Host.PutAsync(item, cancellationToken);

        await Host.PauseAsync(false, cancellationToken);
        await Host.WaitForArrivalsAsync(5, cancellationToken);
        await Host.KillAsync();
        var before = (await Host.ArrivedAsync(cancellationToken)).Count;
        if (System.IsRemote)
            await System.Proxy.HealAsync();
        await Host.StartAsync(cancellationToken);
        await Host.WaitForArrivalsAsync(items, cancellationToken);

        Assert.That(before, Is.LessThan(items), "the kill came too late");
        await Host.AssertNoneLostAsync(items, cancellationToken);
    }

    [Test]
    public async Task What_an_operator_does_holds(CancellationToken cancellationToken)
    {
        await ConfigureAsync();
        await Host.StartAsync(cancellationToken);
        await PassAsync(0, cancellationToken);

        await Host.PauseAsync(true, cancellationToken);
        var arrived = 0;
        await Host.WaitAsync(
            async token =>
                (arrived = (await Host.ArrivedAsync(token)).Count) == (await Host.StatusAsync(token)).GetProperty("messages").GetInt32(),
            "to pass on what was under way",
            cancellationToken
        );
        await Host.PutAsync(1, cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken); // looks and ticks of a second
        var whilePaused = (await Host.ArrivedAsync(cancellationToken)).Count;
        await Host.PauseAsync(false, cancellationToken);
        await Host.WaitForArrivalsAsync(arrived + 1, cancellationToken);
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
        await Host.ConfigureAsync();
        await Host.StartAsync(cancellationToken);
    }

    // With a process, whose steps a trace records.
    private Task ConfigureAsync(string more = "") =>
        System.IsInbound
            ? Host.ConfigureAsync(target: "\"process\": \"pass\"", more: more)
            : Host.ConfigureAsync(more: $", \"process\": \"mark\"{more}");

    private async Task PassAsync(int item, CancellationToken cancellationToken)
    {
        var before = (await Host.ArrivedAsync(cancellationToken)).Count;
        await Host.PutAsync(item, cancellationToken);
        await Host.WaitForArrivalsAsync(before + 1, cancellationToken);
    }

    // Of an inbound endpoint the amount that is recorded, of an outbound one its rate, too.
    private async Task TuneAsync(CancellationToken cancellationToken)
    {
        object tuning = System.IsInbound ? new { audit = "whole" } : new { audit = "whole", rate = 50 };
        await Host.SendAsync(HttpMethod.Patch, "/api/endpoints/partner", tuning, cancellationToken);

        var tuned = (await Host.StatusAsync(cancellationToken)).GetProperty("tuned").EnumerateArray();
        Assert.That(
            tuned.Select(one => one.GetProperty("setting").GetString()),
            Is.EquivalentTo(System.IsInbound ? new[] { "audit" } : ["audit", "rate"])
        );
    }

    // A window of hours that is closed holds an inbound endpoint; an outbound one gets more threads.
    private async Task ReloadAsync(CancellationToken cancellationToken)
    {
        if (!System.IsInbound)
        {
            await ConfigureAsync(", \"prefetch\": 77");
            await Host.TellAsync("/api/configuration/reload", cancellationToken);
            var current = (await Host.StatusAsync(cancellationToken)).GetProperty("current");
            Assert.That((current.GetProperty("prefetch").GetInt32(), current.GetProperty("rate").GetInt32()), Is.EqualTo((77, 50)));
            return;
        }

        var closed = TimeProvider.System.GetUtcNow().AddHours(3);
        await ConfigureAsync($$""", "schedule": { "from": "{{closed:HH}}:00", "to": "{{closed.AddHours(1):HH}}:00", "timeZone": "UTC" }""");
        await Host.TellAsync("/api/configuration/reload", cancellationToken);
        await Host.WaitForStateAsync("paused", cancellationToken);
        Assert.That(
            (await Host.StatusAsync(cancellationToken)).GetProperty("reason").GetString(),
            Does.StartWith("closed by its schedule")
        );
        await ConfigureAsync();
        await Host.TellAsync("/api/configuration/reload", cancellationToken);
        await Host.WaitForStateAsync("running", cancellationToken);
    }

    private async Task TraceAsync(int item, CancellationToken cancellationToken)
    {
        var trace = await Host.SendAsync(HttpMethod.Post, "/api/traces", new { endpoint = "partner" }, cancellationToken);
        var id = trace.GetProperty("id").GetString();
        await PassAsync(item, cancellationToken);

        JsonElement messages = default;
        await Host.WaitAsync(
            async token => (messages = (await Host.AskAsync($"/api/traces/{id}", token)).GetProperty("messages")).GetArrayLength() > 0,
            "to record the message",
            cancellationToken
        );
        var pass = messages[0].GetProperty("id").GetString();
        var message = await Host.AskAsync($"/api/traces/{id}/messages/{pass}", cancellationToken);
        Assert.That(
            message.GetProperty("bodies").EnumerateArray().Select(body => body.GetProperty("text").GetString()),
            Has.Some.Contains("number")
        );
    }

    // State, counters and facts.
    private async Task AssertShownAsync(CancellationToken cancellationToken)
    {
        var status = await Host.StatusAsync(cancellationToken);
        JsonElement facts = default;
        await Host.WaitAsync(
            async token =>
                (facts = (await Host.AskAsync("/api/messages?endpoint=partner", token)).GetProperty("items")).GetArrayLength() > 0,
            "to record facts",
            cancellationToken
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That(status.GetProperty("state").GetString(), Is.EqualTo("running"));
            Assert.That(status.GetProperty("messages").GetInt64(), Is.GreaterThan(0), $"{status}");
            Assert.That(await Host.IsReadyAsync(cancellationToken), Is.True);
        }
    }
}
