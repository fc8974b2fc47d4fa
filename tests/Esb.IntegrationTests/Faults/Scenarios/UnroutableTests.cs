using System.Text.Json.Nodes;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Sinks;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>What nobody subscribes to is kept and never counts as delivered.</summary>
[NonParallelizable, Category("Waits"), Property("Case", "T-DEL-3")]
public sealed class UnroutableTests
{
    [Test, Category("Faults"), CancelAfter(180_000)]
    public async Task What_finds_no_queue_is_kept_and_warned_about_once_a_minute(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(Plan("T-DEL-3"), cancellationToken);
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 1_000,
                Rate = 1_000,
                PathOf = _ => "/nobody",
                Subject = "nobody.item",
                LargestBody = 1_024,
            }
        );

        await load.RunAsync(cancellationToken);
        var kept = await ReadUnroutableAsync(bench, cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { Kept = kept, TerminalStates = null });

        var warnings = bench
            .Farm.Output.Split('\n')
            .Count(line =>
                line.Contains("nobody.item", StringComparison.Ordinal) && line.Contains("warn", StringComparison.OrdinalIgnoreCase)
            );
        bench.Conclude(verdicts, "1,000 to a topic without a subscriber", $"{kept.Count} in esb.unroutable, {warnings} warnings");
        Assert.That((kept.Count, verdicts[0].Delivered), Is.EqualTo((load.Acknowledged, 0)));
        Assert.That(warnings, Is.InRange(1, 2), "one for each minute");
    }

    [Test, Category("Faults"), CancelAfter(180_000)]
    public async Task Queue_that_is_unbound_under_load_loses_nothing(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(Plan("T-DEL-3 (unbound)"), cancellationToken);
        using var load = bench.Load(
            new LoadPlan
            {
                Messages = 2_000,
                Rate = 400,
                LargestBody = 1_024,
            }
        );
        var sending = load.RunAsync(cancellationToken);
        await WaitForAsync(() => load.Acknowledged > 500, cancellationToken);

        await UnbindAsync(bench, $"endpoints.{bench.Name}.web", cancellationToken);
        await sending;
        var kept = await ReadUnroutableAsync(bench, cancellationToken);
        var verdicts = await bench.SettleAsync(cancellationToken, evidence => evidence with { Kept = kept, TerminalStates = null });

        bench.Conclude(verdicts, "2,000 at 400/s; the queue unbound after 500", $"{kept.Count} in esb.unroutable");
        Assert.That(kept, Is.Not.Empty, "there was a time without a binding");
    }

    private static BenchPlan Plan(string name) =>
        new()
        {
            Case = name,
            Hosts = 1,
            Sinks = async (_, folder) => [await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel())],
            Configure = configuration =>
            {
                configuration["topics"]!["nobody"] = new JsonObject();
                configuration["endpoints"]!["intake-nobody"] = new JsonObject
                {
                    ["type"] = "http-inbound",
                    ["path"] = "/nobody",
                    ["publish"] = "nobody.item",
                };
            },
        };

    private static async Task<IReadOnlySet<Guid>> ReadUnroutableAsync(FaultBench bench, CancellationToken cancellationToken)
    {
        await using var connection = await bench.ConnectToBrokerAsync();
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var ids = new HashSet<Guid>();
        while (await channel.BasicGetAsync($"{bench.Name}.unroutable", autoAck: false, cancellationToken) is { } message)
            ids.Add(Guid.Parse(message.BasicProperties.MessageId!));
        return ids; // given back with the channel
    }

    private static async Task UnbindAsync(FaultBench bench, string queue, CancellationToken cancellationToken)
    {
        await using var connection = await bench.ConnectToBrokerAsync();
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await channel.QueueUnbindAsync(
            $"{bench.Name}.{queue}",
            $"{bench.Name}.topics.work",
            "work.#",
            cancellationToken: cancellationToken
        );
    }

    private static async Task WaitForAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition())
            await Task.Delay(10, cancellationToken);
    }
}
