using System.Globalization;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Faults.Network;
using Esb.IntegrationTests.Faults.Results;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Workflows;

/// <summary>A host with workflows, and a broker and a database of its own, all of which can be killed.</summary>
internal sealed class WorkflowBench : IAsyncDisposable
{
    private static readonly TimeSpan ReadyLimit = TimeSpan.FromMinutes(3);
    private static readonly TimeSpan EndLimit = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(500); // counting is work as well

    private readonly PrivateServers _servers;
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-workflows-");
    private readonly long _started = TimeProvider.System.GetTimestamp();
    private HostProcess? _host;
    private bool _hasClock;

    private WorkflowBench(PrivateServers servers)
    {
        _servers = servers;
        HostDatabase = servers.Postgres;
        Database = NpgsqlDataSource.Create($"{servers.Postgres};Search Path=esb_wf,public;Pooling=false;Timeout=15;Command Timeout=300");
    }

    private string HostClock => Path.Combine(_folder.FullName, "clock.txt");

    /// <summary>The database, beside whatever stands between it and the host.</summary>
    public NpgsqlDataSource Database { get; }

    /// <summary>Where the host finds the database.</summary>
    public string HostDatabase { get; set; }

    public HostProcess Host => _host!;

    /// <summary>Starts the servers, and makes the tables of effects.</summary>
    public static async Task<WorkflowBench> StartAsync(CancellationToken cancellationToken) =>
        await StartAsync(await PrivateServers.StartAsync(), cancellationToken);

    /// <summary>As <see cref="StartAsync(CancellationToken)"/>; the clocks of host and database can be set.</summary>
    public static async Task<WorkflowBench> StartWithClocksAsync(CancellationToken cancellationToken)
    {
        var bench = await StartAsync(await PrivateServers.StartWithClockAsync(), cancellationToken);
        bench._hasClock = true;
        await bench.SetHostClockAsync(TimeSpan.Zero, cancellationToken);
        return bench;
    }

    private static async Task<WorkflowBench> StartAsync(PrivateServers servers, CancellationToken cancellationToken)
    {
        var bench = new WorkflowBench(servers);
        await bench.ExecuteAsync(
            """
            create table effects (message_id uuid primary key, step text not null, order_id text not null);
            create table notes (order_id text not null)
            """,
            cancellationToken
        );
        return bench;
    }

    /// <summary>Puts a proxy between the host and the database.</summary>
    public async Task<INetworkProxy> ProxyDatabaseAsync()
    {
        var connection = new NpgsqlConnectionStringBuilder(_servers.Postgres);
        var proxy = await NetworkProxies.StartAsync(connection.Port, TestContext.Out.WriteLine);
        connection.Port = proxy.Port;
        HostDatabase = connection.ConnectionString;
        return proxy;
    }

    /// <summary>Writes the workflows of the configuration, which the next start or reload reads.</summary>
    public void Configure(string workflows) =>
        File.WriteAllText(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "wf",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "wf" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "esb_wf" },
              "connections": { "shop": { "provider": "npgsql", "connection": "${env:ESB_POSTGRES}" } },
              "topics": { "orders": { "key": { "jsonpath": "$.order" } }, "steps": { "key": { "jsonpath": "$.order" } } },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.accepted" },
                "note": {
                  "type": "sql-outbound",
                  "connection": "shop",
                  "execute": "insert into public.notes (order_id) values (@order)",
                  "parameters": { "order": { "jsonpath": "$.order" } }
                },
                "effects": {
                  "type": "sql-outbound",
                  "connection": "shop",
                  "subscribe": ["steps.*"],
                  "execute": "insert into public.effects (message_id, step, order_id) values (@id, @step, @order) on conflict do nothing",
                  "parameters": { "id": { "message": "id" }, "step": { "message": "subject" }, "order": { "jsonpath": "$.order" } }
                }
              },
              "workflows": {{workflows}}
            }
            """
        );

    /// <summary>Starts the host, and waits until it is ready.</summary>
    /// <returns>How long that took.</returns>
    public async Task<TimeSpan> StartHostAsync(CancellationToken cancellationToken)
    {
        Launch();
        return await ReadyAsync(cancellationToken);
    }

    public void Launch()
    {
        var variables = new Dictionary<string, string> { ["ESB_RABBITMQ"] = _servers.RabbitMq, ["ESB_POSTGRES"] = HostDatabase };
        if (_hasClock)
            variables["ESB_KNOWNBAD_MOVEDCLOCK"] = HostClock;
        _host = HostProcess.Launch(_hasClock ? Repository.KnownBadHost : Repository.Host, _folder.FullName, _folder.FullName, variables);
    }

    /// <summary>Sets the clock of the host ahead of that of the machine, or back behind it.</summary>
    public async Task SetHostClockAsync(TimeSpan ahead, CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync($"{HostClock}.next", ahead.ToString(), cancellationToken);
        File.Move($"{HostClock}.next", HostClock, overwrite: true); // it is read all the time
    }

    /// <summary>Sets the clock of the database ahead of that of the machine, or back behind it.</summary>
    public Task SetDatabaseClockAsync(TimeSpan ahead) => _servers.SetClockAsync(ahead);

    public async Task<TimeSpan> ReadyAsync(CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        await Host.WaitAsync(Host.IsReadyAsync, ReadyLimit, "to be ready", cancellationToken);
        return TimeProvider.System.GetElapsedTime(started);
    }

    /// <summary>Kills the host.</summary>
    public async Task KillHostAsync()
    {
        Host.Kill();
        await Host.DisposeAsync();
    }

    /// <summary>Kills the database, and starts it again.</summary>
    public async Task RestartDatabaseAsync()
    {
        await _servers.KillAsync("postgres");
        await _servers.StartAsync("postgres");
    }

    /// <summary>Takes the database away for a time.</summary>
    public async Task TakeDatabaseAwayAsync(TimeSpan time, CancellationToken cancellationToken)
    {
        await _servers.StopAsync("postgres");
        await Task.Delay(time, cancellationToken);
        await _servers.StartAsync("postgres");
    }

    /// <summary>Waits until a number in the database is as expected.</summary>
    public Task WaitAsync(string sql, long expected, CancellationToken cancellationToken) =>
        Host.WaitAsync(
            async token =>
            {
                await Task.Delay(Pace, token);
                return await CountAsync(sql, token) == expected;
            },
            EndLimit,
            $"until {sql} gives {expected}",
            cancellationToken
        );

    public async Task<long> CountAsync(string sql, CancellationToken cancellationToken)
    {
        await using var command = Database.CreateCommand(sql);
        return Convert.ToInt64(await command.ExecuteScalarAsync(cancellationToken), CultureInfo.InvariantCulture);
    }

    public async Task<IReadOnlyList<string>> ReadAsync(string sql, CancellationToken cancellationToken)
    {
        await using var command = Database.CreateCommand(sql);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var rows = new List<string>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(reader.GetString(0));
        return rows;
    }

    public async Task<int> ExecuteAsync(string sql, CancellationToken cancellationToken)
    {
        await using var command = Database.CreateCommand(sql);
        return await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Instances whose history has a gap, or ends before or behind their last checkpoint.</summary>
    public Task<long> CountGapsAsync(CancellationToken cancellationToken) =>
        CountAsync(
            """
            select count(*) from workflow_instance i left join
              (select instance_id, count(*) as rows, min(version) as first, max(version) as last from workflow_event group by instance_id) e
              on e.instance_id = i.id
            where e.rows is distinct from i.version or e.first <> 1 or e.last <> i.version
            """,
            cancellationToken
        );

    /// <summary>Adds a line to the table of results: at full size to that of workflows.</summary>
    public void Conclude(string name, string size, string notes)
    {
        var took = TimeProvider.System.GetElapsedTime(_started);
        TestContext.Out.WriteLine(
            WorkflowSize.IsFull
                ? WorkflowResults.Add(name, size, notes, took)
                : FaultResults.Add(new FaultResult(name, size, 0, Verdict: null, took, notes))
        );
    }

    public async ValueTask DisposeAsync()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        await Database.DisposeAsync();
        await _servers.DisposeAsync();
        _folder.Delete(recursive: true);
    }
}
