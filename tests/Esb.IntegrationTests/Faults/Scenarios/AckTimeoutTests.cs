using System.Globalization;
using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>A delivery takes 150 s, and the broker waits 60 s for an acknowledgement.</summary>
/// <remarks>
/// The endpoint <c>deaf</c> has a time-out below that, as the bus demands (T-TMO-2; it reckons with the broker's usual 30 minutes): what
/// ignores it is left behind, and its message a dead letter.
/// That of <c>late</c> is above: the broker takes the message back and closes the channel, the endpoint consumes anew, and the message is
/// tried again.
/// </remarks>
[NonParallelizable, Category("Idle"), Property("Case", "T-TMO-1")]
public sealed class AckTimeoutTests
{
    private const string Stuck = "stuck0-1";
    private const string Late = "late";
    private const string Deaf = "deaf";

    private static readonly TimeSpan StuckFor = TimeSpan.FromSeconds(150);
    private static readonly TimeSpan BackWithin = TimeSpan.FromSeconds(30);

    [Test, Category("Faults"), CancelAfter(600_000)]
    public async Task Delivery_that_outlives_the_acknowledgement_timeout_holds_up_no_other(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.CreateAsync(
            new BenchPlan
            {
                Case = "T-TMO-1",
                Hosts = 1,
                Program = Repository.KnownBadHost,
                Sinks = async (_, folder) =>
                    [
                        await HttpSink.StartAsync(Late, folder, SinkPromises.None, Settings("5m")),
                        await HttpSink.StartAsync(Deaf, folder, SinkPromises.Once, Settings("20s")),
                    ],
            }
        );
        var host = bench.Farm.Hosts[0];
        host.Set("ESB_KNOWNBAD_DEAF", Deaf);
        await bench.Servers.ControlRabbitMqAsync("eval", "application:set_env(rabbit, consumer_timeout, 60000).");
        try
        {
            await bench.Farm.StartAsync(cancellationToken);
            while (!await host.IsRunningAsync(Late) || !await host.IsRunningAsync(Deaf))
                await Task.Delay(100, cancellationToken);
            var sink = (HttpSink)bench.Sinks[0];
            var tries = 0;
            sink.Refusal = async (id, _) =>
            {
                if (id == Stuck && Interlocked.Increment(ref tries) == 1)
                    await Task.Delay(StuckFor, cancellationToken);
                return null;
            };
            var (late, deaf) = (new EndpointWatch(host, Late), new EndpointWatch(host, Deaf));
            using var watching = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            var watched = Task.WhenAll(late.RunAsync(watching.Token), deaf.RunAsync(watching.Token));

            await SendAsync(bench, "stuck", 1, cancellationToken);
            await SendAsync(bench, "k", 200, cancellationToken);
            // the broker has closed the channel
            await WaitForAsync(() => sink.Attempts.Count(attempt => attempt.Id == Stuck) >= 2, cancellationToken);
            while ((await CopiesAsync(sink, cancellationToken)).Count == 0)
                await Task.Delay(100, cancellationToken); // the first attempt has ended after all
            await WaitForAsync(() => deaf.Looks[^1].Stuck == 0, cancellationToken);
            await SendAsync(bench, "later", 50, cancellationToken);
            var verdicts = await bench.SettleAsync(cancellationToken);
            await watching.CancelAsync();
            await watched;

            var reason =
                late.Looks.FirstOrDefault(look => look.Reason?.Contains("acknowledgement", StringComparison.Ordinal) == true)?.Reason
                ?? "no reason";
            var letters = await bench.Database.QueryAsync<(string Endpoint, string Code)>(
                "select endpoint, code from esb.dead_letter",
                null,
                cancellationToken
            );
            bench.Conclude(
                verdicts,
                $"{bench.Ledger.Acknowledged}, one of them takes 150 s; acknowledgement time-out 60 s, that of {Late} 5 min, of "
                    + $"{Deaf} 20 s",
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{Deaf}: its consumer stays, and the stuck one is a dead letter; {Late}, which should not wait longer than the "
                        + $"broker: {late.LongestAway.TotalSeconds:0.0} s without its consumer, the stuck one tried × {tries} and "
                        + $"no dead letter"
                )
            );
            Assert.Multiple(async () =>
            {
                Assert.That(await CopiesAsync(sink, cancellationToken), Is.EqualTo([Stuck]), "the others are delivered once");
                Assert.That(late.LongestAway, Is.GreaterThan(TimeSpan.Zero).And.LessThan(BackWithin), "without its consumer");
                Assert.That(reason, Does.StartWith("ESB-AMQP-ACKTIMEOUT"), "what the endpoint says meanwhile");
                Assert.That(letters, Is.EqualTo([(Deaf, "ESB-ENDPOINT-TIMEOUT")]));
                Assert.That(verdicts[1].Kept, Is.EqualTo(1), "the stuck one is kept, and not delivered too");
                Assert.That(deaf.LongestAway, Is.EqualTo(TimeSpan.Zero));
                Assert.That(deaf.Looks.Select(look => look.Stuck), Is.EqualTo([0, 1, 0]), "what the endpoint says of it");
            });
        }
        finally
        {
            await bench.Servers.ControlRabbitMqAsync("eval", "application:set_env(rabbit, consumer_timeout, 1800000).");
        }
    }

    private static async Task SendAsync(FaultBench bench, string prefix, int messages, CancellationToken cancellationToken)
    {
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = messages,
                Rate = 100,
                Keys = 1,
                KeyPrefix = prefix,
                LargestBody = 2_048,
            }
        );
        await load.RunAsync(cancellationToken);
    }

    private static async Task<IReadOnlyList<string>> CopiesAsync(HttpSink sink, CancellationToken cancellationToken) =>
        [
            .. (await sink.ReadAsync(cancellationToken))
                .GroupBy(entry => entry.Id)
                .Where(group => group.Count() > 1)
                .Select(group => group.Key),
        ];

    private static JsonObject Settings(string timeout)
    {
        var settings = BenchConfiguration.Parallel(poolSize: 8, processingThreads: 8);
        settings["timeout"] = timeout;
        if (timeout == "20s")
            settings["retry"] = new JsonObject { ["immediate"] = 0, ["delays"] = new JsonArray() };
        return settings;
    }

    private static async Task WaitForAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition())
            await Task.Delay(100, cancellationToken);
    }
}
