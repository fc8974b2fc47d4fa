using Dapper;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>What happens to the broker and to the database.</summary>
internal static class ServerFaults
{
    private const string Broker = "rabbitmq";
    private const string Database = "postgres";

    /// <summary>The node dies at once.</summary>
    public static Fault KillBroker(PrivateServers servers) => Away(servers, $"kill -9 {Broker}", Broker, () => servers.KillAsync(Broker));

    public static Fault StopBroker(PrivateServers servers) => Away(servers, $"stop {Broker}", Broker, () => servers.StopAsync(Broker));

    /// <summary>As by the end of the postmaster: every session dies, and recovery runs at the start.</summary>
    public static Fault KillDatabase(PrivateServers servers) =>
        Away(servers, $"kill {Database}", Database, () => servers.KillAsync(Database));

    public static Fault StopDatabase(PrivateServers servers) =>
        Away(servers, $"stop {Database}", Database, () => servers.StopAsync(Database));

    /// <summary>Every session but ours ends in the middle of what it does.</summary>
    public static Fault EndSessions(string connection) =>
        Fault.Moment(
            "pg_terminate_backend",
            async () =>
            {
                await using var own = new NpgsqlConnection(connection);
                await own.OpenAsync();
                await own.ExecuteAsync(
                    "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = "
                        + "'client backend'"
                );
            }
        );

    /// <summary>The same, or nothing where the server is away just then.</summary>
    public static Fault TryEndSessions(string connection) =>
        Fault.Moment(
            "pg_terminate_backend",
            async () =>
            {
                try
                {
                    await EndSessions(connection).StrikeAsync();
                }
                catch (NpgsqlException)
                {
                    // Its sessions have ended anyway.
                }
            }
        );

    /// <summary>As <c>pg_ctl restart -m immediate</c>: over as soon as it takes connections again.</summary>
    public static Fault RestartDatabase(PrivateServers servers) =>
        new("pg_ctl restart -m immediate", () => servers.KillAsync(Database), () => servers.StartAsync(Database), default, default);

    /// <summary>The broker stops reading connections that publish.</summary>
    public static Fault MemoryAlarm(PrivateServers servers) =>
        new Fault(
            "memory alarm",
            () => servers.ControlRabbitMqAsync("set_vm_memory_high_watermark", "absolute", "1MB"),
            () => servers.ControlRabbitMqAsync("set_vm_memory_high_watermark", "0.4"),
            default,
            default
        ).Lasting(5, 15);

    /// <summary>The same for want of disk space.</summary>
    public static Fault DiskAlarm(PrivateServers servers) =>
        new Fault(
            "disk alarm",
            () => servers.ControlRabbitMqAsync("set_disk_free_limit", "100000GB"),
            () => servers.ControlRabbitMqAsync("set_disk_free_limit", "50MB"),
            default,
            default
        ).Lasting(5, 15);

    private static Fault Away(PrivateServers servers, string name, string server, Func<Task> strike) =>
        new Fault(name, strike, () => servers.StartAsync(server), default, default).Lasting(0.5, 8);
}
