using System.Collections.Concurrent;
using Esb.IntegrationTests.Faults.Nemeses;

namespace Esb.IntegrationTests.Faults.Clusters;

/// <summary>What happens to a cluster of brokers. Each begins once the cluster is whole again after the one before.</summary>
/// <param name="cluster">The brokers.</param>
/// <param name="queue">The quorum queue whose leader is meant.</param>
/// <param name="seed">Chooses the nodes.</param>
internal sealed class ClusterFaults(BrokerCluster cluster, string queue, int seed)
{
    private readonly Random _random = new(seed);
    private readonly ConcurrentQueue<(DateTimeOffset From, DateTimeOffset To)> _withoutMajority = new();

    /// <summary>The times at which no node could reach another.</summary>
    public IReadOnlyList<(DateTimeOffset From, DateTimeOffset To)> WithoutMajority => [.. _withoutMajority];

    public IReadOnlyList<Fault> All =>
        [Isolation(10), Isolation(30), SplitInTwo(), SplitInThree(), KillLeader(), FreezeLeader(), RollingRestart()];

    private Fault Isolation(int seconds) =>
        Lasting(seconds, $"a node isolated for {seconds} s", () => cluster.IsolateAsync(AnyNode()), cluster.HealAsync);

    private Fault SplitInTwo() => Lasting(30, "split 2/1", () => cluster.SplitAsync(Halves(AnyNode())), cluster.HealAsync);

    private Fault SplitInThree()
    {
        var from = DateTimeOffset.MaxValue;
        return Lasting(
            30,
            "split 1/1/1",
            async () =>
            {
                await cluster.SplitAsync("1 2 3");
                from = TimeProvider.System.GetUtcNow();
            },
            () =>
            {
                _withoutMajority.Enqueue((from, TimeProvider.System.GetUtcNow()));
                return cluster.HealAsync();
            }
        );
    }

    private Fault KillLeader() => OfLeader(5, "kill -9 leader", cluster.KillNodeAsync, cluster.StartNodeAsync);

    private Fault FreezeLeader() => OfLeader(40, "SIGSTOP leader", cluster.FreezeNodeAsync, cluster.ThawNodeAsync);

    private Fault RollingRestart() =>
        Lasting(
            0,
            "rolling restart",
            async () =>
            {
                foreach (var node in BrokerCluster.Nodes)
                {
                    await cluster.StopNodeAsync(node);
                    await cluster.StartNodeAsync(node);
                }
            },
            () => Task.CompletedTask
        );

    private Fault OfLeader(int seconds, string name, Func<int, Task> strike, Func<int, Task> heal)
    {
        var leader = 0;
        return Lasting(
            seconds,
            name,
            async () => await strike(leader = await cluster.FindLeaderAsync(queue)),
            () => leader == 0 ? Task.CompletedTask : heal(leader)
        );
    }

    private Fault Lasting(int seconds, string name, Func<Task> strike, Func<Task> heal) =>
        new(
            name,
            async () =>
            {
                await cluster.WaitUntilWholeAsync();
                await strike();
            },
            heal,
            TimeSpan.FromSeconds(seconds),
            TimeSpan.FromSeconds(seconds)
        );

    private int AnyNode() => BrokerCluster.Nodes[_random.Next(BrokerCluster.Nodes.Count)];

    private static string Halves(int alone) => $"{alone} {string.Concat(BrokerCluster.Nodes.Where(node => node != alone))}";
}
