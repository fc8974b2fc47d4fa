using System.Globalization;

namespace Esb.IntegrationTests.Faults.Clusters;

/// <summary>Three brokers of one cluster, each in a network of its own, whose links can be cut; with a PostgreSQL beside them.</summary>
internal sealed class BrokerCluster : IAsyncDisposable
{
    private readonly string _folder;

    private BrokerCluster(string folder, PrivateServers servers) => (_folder, Servers) = (folder, servers);

    public static IReadOnlyList<int> Nodes { get; } = [1, 2, 3];

    public PrivateServers Servers { get; }

    public static async Task<BrokerCluster> StartAsync()
    {
        var folder = Directory.CreateTempSubdirectory("esb-cluster-").FullName;
        var address = ServerScript.ReadExports(await RunAsync("start", folder))["ESB_TEST_RABBITMQ"];
        return new BrokerCluster(
            folder,
            await PrivateServers.StartBesideAsync(address, arguments => RunAsync(["rabbitmqctl", folder, .. arguments]))
        );
    }

    public Task StartNodeAsync(int node) => ChangeAsync("start", node);

    public Task StopNodeAsync(int node) => ChangeAsync("stop", node);

    /// <summary>As by <c>kill -9</c>.</summary>
    public Task KillNodeAsync(int node) => ChangeAsync("kill", node);

    /// <summary>Its processes stand still: it takes connections and says nothing.</summary>
    public Task FreezeNodeAsync(int node) => ChangeAsync("freeze", node);

    public Task ThawNodeAsync(int node) => ChangeAsync("thaw", node);

    /// <summary>Neither brokers nor clients reach a node.</summary>
    public Task IsolateAsync(int node) => RunAsync("isolate", $"{node}", _folder);

    /// <summary>Brokers reach only those of their group; clients reach all.</summary>
    /// <param name="groups">Such as <c>1 23</c>.</param>
    public Task SplitAsync(string groups) => RunAsync("split", groups, _folder);

    /// <summary>Mends every link.</summary>
    public Task HealAsync() => RunAsync("heal", _folder);

    /// <summary>Waits until every node takes clients.</summary>
    public Task WaitUntilWholeAsync() => RunAsync("whole", _folder);

    /// <summary>The node that leads a quorum queue.</summary>
    public async Task<int> FindLeaderAsync(string queue) =>
        int.Parse(await RunAsync("leader", queue, _folder), CultureInfo.InvariantCulture);

    /// <summary>On how many nodes each queue has a replica; 0 where it lives on one only.</summary>
    /// <param name="prefix">What its name begins with.</param>
    public async Task<IReadOnlyDictionary<string, int>> CountReplicasAsync(string prefix)
    {
        var output = await Servers.ControlRabbitMqAsync("--silent", "list_queues", "--no-table-headers", "name", "type", "members");
        return output
            .Split('\n')
            .Select(line => line.Split('\t'))
            .Where(parts => parts.Length == 3 && parts[0].StartsWith(prefix, StringComparison.Ordinal))
            .ToDictionary(parts => parts[0], parts => parts[1] == "quorum" ? parts[2].Split(',').Length : 0);
    }

    public async ValueTask DisposeAsync()
    {
        await Servers.DisposeAsync();
        await RunAsync("stop", _folder);
    }

    private Task ChangeAsync(string how, int node) => RunAsync("node", how, $"{node}", _folder);

    private static Task<string> RunAsync(params string[] arguments) =>
        ServerScript.RunAsync("cluster", new Dictionary<string, string>(), arguments);
}
