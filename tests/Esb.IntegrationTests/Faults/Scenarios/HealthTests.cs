using System.Text.Json.Nodes;
using Dapper;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;
using Esb.Tests.Topics;
using Npgsql;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Faults.Scenarios;

/// <summary>Whatever breaks, the host says so soon: its readiness or the state of an endpoint turns bad within 15 s, and good within 30 s
/// of the repair.</summary>
[NonParallelizable, Category("WaitsLong"), Property("Case", "T-HLT-1")]
public sealed class HealthTests
{
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
            cancellationToken
        );
        var rounds = new HealthRounds(bench);
        foreach (var fault in FaultsOf(bench))
            await rounds.RunAsync(fault, cancellationToken);
        await rounds.RunAsync(
            Fault.Moment(
                "queue deleted",
                () => OnBrokerAsync(bench, channel => channel.QueueDeleteAsync($"{bench.Name}.endpoints.{bench.Name}.web"))
            ),
            cancellationToken,
            lasts: false
        );
        rounds.Conclude();
    }

    [Test, Category("Faults"), CancelAfter(420_000)]
    public async Task Health_follows_certificates_names_and_a_full_volume(CancellationToken cancellationToken)
    {
        if (!Seclusion.IsPossible())
            Assert.Ignore("This machine lets no process have mounts of its own.");
        const string Name = "broker.test";
        const string User = "bus";
        var folder = Directory.CreateTempSubdirectory("esb-");
        try
        {
            var now = TimeProvider.System.GetUtcNow();
            using var authority = new TestAuthority(folder.FullName, "authority", now);
            using var stranger = new TestAuthority(folder.FullName, "stranger", now);
            var servers = await FaultServers.GetAsync();
            await servers.ControlRabbitMqAsync("add_user", User, User);
            await servers.ControlRabbitMqAsync("set_permissions", User, ".*", ".*", ".*");
            var tls = await TlsListener.StartAsync(servers, authority, authority.Issue(Name));
            var seclusion = new Seclusion(folder.FullName);
            seclusion.Know(Name);
            await using var bench = await FaultBench.CreateAsync(
                new BenchPlan
                {
                    Case = "T-HLT-1 (TLS, DNS, spool)",
                    Hosts = 1,
                    Launcher = seclusion.Launcher,
                    Sinks = async (_, sinks) => [await HttpSink.StartAsync("web", sinks, SinkPromises.None, BenchConfiguration.Parallel())],
                    Configure = configuration => configuration["transport"]!["tls"] = new JsonObject { ["ca"] = authority.File },
                }
            );
            bench.Farm.Hosts[0].Set(BenchConfiguration.BrokerVariable, $"amqps://{User}:{User}@{Name}:{tls.Port}");
            await bench.Farm.StartAsync(cancellationToken);
            var (host, right) = (bench.Farm.Hosts[0], authority.Issue(Name));
            var rounds = new HealthRounds(bench);

            await rounds.RunAsync(
                Fault.Until(
                    "certificate expired",
                    () => tls.ShowAsync(authority.Issue(Name, fromDay: -3, toDay: -1)),
                    () => tls.ShowAsync(right)
                ),
                cancellationToken
            );
            await rounds.RunAsync(
                Fault.Until("certificate of a stranger", () => tls.ShowAsync(stranger.Issue(Name)), () => tls.ShowAsync(right)),
                cancellationToken
            );
            await rounds.RunAsync(
                Fault.Until("name not resolved", () => ForgetAsync(seclusion, bench), () => Do(() => seclusion.Know(Name))),
                cancellationToken
            );
            await rounds.RunAsync(
                Fault.Until("spool full", () => Do(() => seclusion.Fill(host)), () => Do(() => seclusion.Empty(host))),
                cancellationToken
            );
            rounds.Conclude();
            await servers.ControlRabbitMqAsync("delete_user", User);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
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
            Fault.Until(
                "credential revoked",
                () => RevokeAsync(servers),
                () => servers.ControlRabbitMqAsync("change_password", "guest", "guest")
            ),
            Fault.Until(
                "queue made another way",
                () => ReplaceQueueAsync(bench, $"{bench.Name}.endpoints.{bench.Name}.web"),
                () => OnBrokerAsync(bench, channel => channel.QueueDeleteAsync($"{bench.Name}.endpoints.{bench.Name}.web"))
            ),
            ServerFaults.KillDatabase(servers),
            NetworkFaults.HalfOpen(bench.Network.Database, "database"),
            Fault.Until("database read-only", () => SetReadOnlyAsync(bench, "on"), () => SetReadOnlyAsync(bench, "off")),
        ];
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
        await OnBrokerAsync(
            bench,
            async channel =>
            {
                await channel.QueueDeleteAsync(queue);
                await channel.QueueDeclareAsync(
                    queue,
                    durable: true,
                    exclusive: false,
                    autoDelete: false,
                    new Dictionary<string, object?> { ["x-queue-type"] = "classic" }
                );
            }
        );
        await bench.Servers.ControlRabbitMqAsync("close_all_connections", "lost");
    }

    private static async Task OnBrokerAsync(FaultBench bench, Func<IChannel, Task> act)
    {
        await using var connection = await bench.ConnectToBrokerAsync();
        await using var channel = await connection.CreateChannelAsync();
        await act(channel);
    }

    // A connection that is open needs no name.
    private static async Task ForgetAsync(Seclusion seclusion, FaultBench bench)
    {
        seclusion.Forget();
        await bench.Servers.ControlRabbitMqAsync("close_all_connections", "lost");
    }

    private static Task Do(Action action)
    {
        action();
        return Task.CompletedTask;
    }
}
