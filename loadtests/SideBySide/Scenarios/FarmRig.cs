using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Topics;

namespace SideBySide.Scenarios;

/// <summary>S12: one host and four, with work that waits and work that computes, and one of the four killed.</summary>
internal sealed class FarmRig(Surroundings surroundings, TestServers servers) : IRig
{
    private const int Hosts = 4;

    private static readonly Address Waiting = new("", "orders.far");
    private static readonly Address Computing = new("", "orders.new");
    private static readonly Pool[] Pools = [new("orders-db", 8, 8)];

    public IReadOnlyList<string> Scenarios { get; } = ["S12"];

    public async Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken)
    {
        await using var topics = await TopicServers.StartAsync(surroundings, servers, cancellationToken);
        await using var one = await Farm.StartAsync(topics, "farm-1", 1, Pools, cancellationToken);
        await using var four = await Farm.StartAsync(topics, "farm-4", Hosts, Pools, cancellationToken);

        await hold(Scaling("work that waits", "", "inserts that wait 20 ms, 4 at once in each host", Waiting, 3.8));
        await hold(Scaling("work that computes", ", plain inserts", "plain inserts, 8 at once in each host", Computing, 0.8));
        var killed = new KilledTarget(
            "four hosts, one killed",
            "kill -9 of one host while messages flow, in every round; it starts again after",
            four,
            Side("", "", topics, four, Waiting)
        );
        await hold(new Contest("S12, kill -9", [new("S12", "kill -9 of one of four", killed, [], Goal.NothingLost)]));

        Contest Scaling(string work, string kind, string settings, Address address, double ratio) =>
            new(
                $"S12, {work}",
                [
                    new(
                        "S12",
                        work,
                        Side($"four hosts{kind}", settings, topics, four, address),
                        [Side($"one host{kind}", "as four hosts", topics, one, address)],
                        Goal.Ratio(ratio)
                    ),
                ]
            );
    }

    private static InsertTarget Side(string name, string settings, TopicServers topics, Farm farm, Address address) =>
        new(
            name,
            settings,
            new Meter(() => farm.ProcessorTime),
            topics.Publisher,
            topics.Table,
            address with
            {
                Exchange = $"{farm.Prefix}.topics.orders",
            }
        )
        {
            WarmKey = farm.Prefix,
        };
}
