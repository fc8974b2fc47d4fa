using Esb.IntegrationTests.Faults.Farm;
using Esb.Topics.RabbitMq.Connections;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.IntegrationTests.Faults.Clusters;

/// <summary>Compares again and again how many hosts say that an endpoint runs with how many consumers its queues have.</summary>
/// <param name="farm">The hosts.</param>
/// <param name="endpoints">The endpoints to look at.</param>
/// <param name="broker">Whom to ask.</param>
/// <param name="log">Hears of everything that lasted.</param>
internal sealed class ConsumerWatch(HostFarm farm, IReadOnlyList<WatchedEndpoint> endpoints, RabbitMqAddress broker, Action<string> log)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Worth = TimeSpan.FromSeconds(10); // to be told

    private readonly Dictionary<string, long> _wrongSince = [];
    private readonly ConnectionFactory _factory = broker.ToFactory("tests watch", TimeSpan.FromSeconds(4));

    /// <summary>Comparisons that were made.</summary>
    public int Samples { get; private set; }

    /// <summary>The longest time for which an endpoint was said to run on more hosts than it had consumers.</summary>
    public TimeSpan LongestLie { get; private set; }

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        IConnection? connection = null;
        while (!cancellationToken.IsCancellationRequested)
        {
            connection = await LookAsync(connection);
            await Task.Delay(Interval, CancellationToken.None);
        }

        if (connection is not null)
            await connection.AbortAsync(CancellationToken.None);
    }

    // Where the broker cannot be asked nothing is known: neither does a lie end then, nor does one begin.
    private async Task<IConnection?> LookAsync(IConnection? connection)
    {
        try
        {
            connection ??= await _factory.CreateConnectionAsync();
            foreach (var endpoint in endpoints)
            {
                var running = await CountRunningAsync(endpoint.Name);
                var consumers = await CountConsumersAsync(connection, endpoint.Queues).WaitAsync(Patience);
                var wanted = endpoint.IsOrdered ? Math.Min(running, 1) : running;
                Note(
                    endpoint.Name,
                    consumers < wanted,
                    $"{endpoint.Name} is said to run on {running} hosts, and has {consumers} consumers"
                );
            }

            return connection;
        }
        catch (Exception ex)
            when (ex
                    is TimeoutException
                        or OperationInterruptedException
                        or BrokerUnreachableException
                        or AlreadyClosedException
                        or IOException
                        or ObjectDisposedException
            )
        {
            if (connection is not null)
                _ = connection.AbortAsync(TimeSpan.FromSeconds(1));
            return null;
        }
    }

    private void Note(string endpoint, bool isWrong, string what)
    {
        Samples++;
        if (!isWrong)
        {
            _wrongSince.Remove(endpoint);
            return;
        }

        if (_wrongSince.TryAdd(endpoint, TimeProvider.System.GetTimestamp()))
            return;
        var lasted = TimeProvider.System.GetElapsedTime(_wrongSince[endpoint]);
        if (lasted > LongestLie)
            LongestLie = lasted;
        if (lasted > Worth)
            log($"{what}, since {lasted.TotalSeconds:0} s");
    }

    private async Task<int> CountRunningAsync(string endpoint)
    {
        var states = await Task.WhenAll(farm.Hosts.Select(host => host.IsRunningAsync(endpoint)));
        return states.Count(isRunning => isRunning);
    }

    private static async Task<uint> CountConsumersAsync(IConnection connection, IEnumerable<string> names)
    {
        await using var channel = await connection.CreateChannelAsync();
        var fewest = uint.MaxValue;
        foreach (var name in names)
            fewest = Math.Min(fewest, (await channel.QueueDeclarePassiveAsync(name)).ConsumerCount);
        return fewest;
    }
}

/// <summary>An endpoint and its queues.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Queues">Each must have consumers.</param>
/// <param name="IsOrdered">Whether one consumer at a time is active: the broker then counts only that one.</param>
internal sealed record WatchedEndpoint(string Name, IReadOnlyList<string> Queues, bool IsOrdered);
