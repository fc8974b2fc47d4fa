using System.Text.Json.Nodes;
using Dapper;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;
using Npgsql;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Whatever breaks, the host says so soon: its readiness or the state of an endpoint turns bad within 15 s, and good within 30 s of the repair.</summary>
[NonParallelizable, Property("Case", "T-HLT-1")]
public sealed class HealthTests
{
    private static readonly TimeSpan BadWithin = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan GoodWithin = TimeSpan.FromSeconds(30);

    [Test, Category("Faults"), CancelAfter(900_000)]
    public async Task Health_follows_every_fault_and_every_repair(CancellationToken cancellationToken)
    {
        await using var bench = await FaultBench.StartAsync(
            new BenchPlan
            {
                Case = "T-HLT-1",
                Hosts = 1,
                IsProxied = true,
                Sinks = async (database, folder) =>
                [
                    await SqlSink.CreateAsync("effects", database, SinkPromises.None, BenchConfiguration.Parallel()),
                    await HttpSink.StartAsync("web", folder, SinkPromises.None, BenchConfiguration.Parallel()),
                ],
                Configure = configuration => configuration["audit"] = new JsonObject { ["mode"] = "strict" },
            },
            cancellationToken);
        var failures = new List<string>();
        var found = new List<string>();
        var faults = FaultsOf(bench);
        foreach (var fault in faults)
        {
            await WaitAsync(bench.Farm.Hosts[0], good: true, TimeSpan.FromSeconds(60), cancellationToken);
            await fault.StrikeAsync();
            var bad = await WaitAsync(bench.Farm.Hosts[0], good: false, BadWithin * 2, cancellationToken);
            await fault.HealAsync();
            var good = await WaitAsync(bench.Farm.Hosts[0], good: true, GoodWithin * 3, cancellationToken);
            var line = $"{fault.Name}: bad after {Seconds(bad)}, good {Seconds(good)} after the repair";
            FaultBench.Log($"T-HLT-1 {line}");
            found.Add($"{fault.Name} {Seconds(bad)}/{Seconds(good)}");
            if (bad is null || bad > BadWithin || good is null || good > GoodWithin) failures.Add(line);
        }

        bench.Note($"{faults.Count} faults: bad after/good after", string.Join(", ", found)); // no TLS, DNS or full spool here
        Assert.That(failures, Is.Empty);
    }

    private static List<Fault> FaultsOf(FaultBench bench)
    {
        var servers = bench.Servers;
        return
        [
            ServerFaults.KillBroker(servers),
            ServerFaults.MemoryAlarm(servers),
            NetworkFaults.Stall(bench.Network.Broker, "broker"),
            NetworkFaults.HalfOpen(bench.Network.Broker, "broker"),
            new Fault("credential revoked", () => RevokeAsync(servers), () => servers.ControlRabbitMqAsync("change_password", "guest", "guest"), default, default),
            Fault.Moment("queue deleted", () => OnBrokerAsync(bench, channel => channel.QueueDeleteAsync($"{bench.Name}.endpoints.web"))),
            new Fault("queue made another way", () => ReplaceQueueAsync(bench, $"{bench.Name}.endpoints.web"), () => OnBrokerAsync(bench, channel => channel.QueueDeleteAsync($"{bench.Name}.endpoints.web")), default, default),
            ServerFaults.KillDatabase(servers),
            NetworkFaults.HalfOpen(bench.Network.Database, "database"),
            new Fault("database read-only", () => SetReadOnlyAsync(bench, "on"), () => SetReadOnlyAsync(bench, "off"), default, default),
        ];
    }

    // How long it took; null where it did not come.
    private static async Task<TimeSpan?> WaitAsync(FarmHost host, bool good, TimeSpan limit, CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (TimeProvider.System.GetElapsedTime(started) < limit)
        {
            if (await IsGoodAsync(host, cancellationToken) == good) return TimeProvider.System.GetElapsedTime(started);
            await Task.Delay(100, cancellationToken);
        }

        return null;
    }

    private static async Task<bool> IsGoodAsync(FarmHost host, CancellationToken cancellationToken)
    {
        if (!await host.IsReadyAsync(cancellationToken)) return false;
        var endpoints = await host.Process.AskAsync("/api/endpoints", cancellationToken);
        return endpoints.GetProperty("items").EnumerateArray().All(endpoint => endpoint.GetProperty("state").GetString() == "running");
    }

    private static async Task RevokeAsync(PrivateServers servers)
    {
        await servers.ControlRabbitMqAsync("change_password", "guest", "another");
        await servers.ControlRabbitMqAsync("close_all_connections", "revoked");
    }

    private static async Task SetReadOnlyAsync(FaultBench bench, string value)
    {
        await using var connection = new NpgsqlConnection(bench.Servers.Postgres);
        await connection.OpenAsync();
        await connection.ExecuteAsync($"alter database \"{bench.Name}\" set default_transaction_read_only = {value}");
        await connection.ExecuteAsync("select pg_terminate_backend(pid) from pg_stat_activity where datname = @Name", new { bench.Name });
    }

    // Who comes back then finds a queue that it cannot declare (406).
    private static async Task ReplaceQueueAsync(FaultBench bench, string queue)
    {
        await OnBrokerAsync(bench, async channel =>
        {
            await channel.QueueDeleteAsync(queue);
            await channel.QueueDeclareAsync(queue, durable: true, exclusive: false, autoDelete: false, new Dictionary<string, object?> { ["x-queue-type"] = "classic" });
        });
        await bench.Servers.ControlRabbitMqAsync("close_all_connections", "lost");
    }

    private static async Task OnBrokerAsync(FaultBench bench, Func<IChannel, Task> act)
    {
        await using var connection = await bench.ConnectToBrokerAsync();
        await using var channel = await connection.CreateChannelAsync();
        await act(channel);
    }

    private static string Seconds(TimeSpan? time) => time is { } known ? FormattableString.Invariant($"{known.TotalSeconds:0.0} s") : "never";
}
