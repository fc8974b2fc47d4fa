using System.Text.Json.Nodes;
using Dapper;
using Esb.IntegrationTests.Faults.Checking;
using Esb.IntegrationTests.Faults.Farm;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Load;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Results;
using Esb.IntegrationTests.Faults.Sinks;
using Esb.Topics.RabbitMq.Connections;
using Npgsql;
using NUnit.Framework.Interfaces;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Faults.Benches;

/// <summary>A farm with its outsides, its ledgers, and names of its own on broker and database; and what a test does with them.</summary>
internal sealed class FaultBench : IAsyncDisposable
{
    // What is not done with by then, after the last fault, is stuck.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);

    private readonly BenchPlan _plan;
    private readonly DirectoryInfo _folder;
    private readonly long _started = TimeProvider.System.GetTimestamp();

    private FaultBench(
        BenchPlan plan,
        DirectoryInfo folder,
        PrivateServers servers,
        NpgsqlDataSource database,
        string name,
        IReadOnlyList<ISink> sinks,
        BenchNetwork network
    )
    {
        (_plan, _folder, Servers, Database, Name, Sinks, Network) = (plan, folder, servers, database, name, sinks, network);
        Ledger = new SendLedger(Path.Combine(folder.FullName, "sent.ledger"));
        Records = new BusRecords(database, servers, name);
        Configuration = Path.Combine(folder.FullName, "esb.json");
        Farm = new HostFarm([.. Enumerable.Range(1, plan.Hosts).Select(number => NewHost($"host {number}", plan.Program))]);
    }

    /// <summary>Repeats a run; <c>ESB_FAULTS_SEED</c> sets it.</summary>
    public static int Seed { get; } =
        int.TryParse(Environment.GetEnvironmentVariable("ESB_FAULTS_SEED"), out var seed) ? seed : Random.Shared.Next(1, 1_000_000);

    /// <summary>The name of the farm, and what its queues begin with.</summary>
    public string Name { get; }

    public PrivateServers Servers { get; }

    public NpgsqlDataSource Database { get; }

    /// <summary>What lies between the hosts and the servers.</summary>
    public BenchNetwork Network { get; }

    public HostFarm Farm { get; }

    public SendLedger Ledger { get; }

    public BusRecords Records { get; }

    public IReadOnlyList<ISink> Sinks { get; }

    /// <summary>The file that the hosts read.</summary>
    public string Configuration { get; }

    public string Folder => _folder.FullName;

    /// <summary>Sets everything up; no host runs yet.</summary>
    public static async Task<FaultBench> CreateAsync(BenchPlan plan)
    {
        Log($"{plan.Case}, seed {Seed} (ESB_FAULTS_SEED={Seed} repeats it)");
        var servers = plan.Servers ?? await FaultServers.GetAsync();
        var name = $"faults-{Guid.NewGuid():N}"[..15];
        var connection = new NpgsqlConnectionStringBuilder(servers.Postgres) { Database = name };
        await using (var server = NpgsqlDataSource.Create(servers.Postgres))
        await using (var connecting = await server.OpenConnectionAsync())
            await connecting.ExecuteAsync($"create database \"{name}\"", commandTimeout: 0); // it waits for a checkpoint

        var folder = Directory.CreateTempSubdirectory($"{name}-");
        var database = NpgsqlDataSource.Create(connection);
        var sinks = await plan.Sinks(database, folder.FullName);
        var network = plan.IsProxied ? await BenchNetwork.ProxiedAsync(servers, Log) : BenchNetwork.Direct(servers);
        var bench = new FaultBench(plan, folder, servers, database, name, sinks, network);
        var configuration = BenchConfiguration.Of(name, sinks);
        plan.Configure(configuration);
        await bench.ConfigureAsync(configuration);
        return bench;
    }

    /// <summary>Sets everything up and starts the hosts.</summary>
    public static async Task<FaultBench> StartAsync(BenchPlan plan, CancellationToken cancellationToken)
    {
        var bench = await CreateAsync(plan);
        await bench.Farm.StartAsync(cancellationToken);
        return bench;
    }

    /// <summary>A host of this farm beyond those of the plan; the caller's to dispose.</summary>
    public FarmHost NewHost(string name, string program) =>
        new(
            name,
            program,
            Configuration,
            Path.Combine(_folder.FullName, name.Replace(' ', '-')),
            new Dictionary<string, string>
            {
                [BenchConfiguration.BrokerVariable] = Network.BrokerUrl,
                [BenchConfiguration.StoreVariable] = new NpgsqlConnectionStringBuilder(Network.Postgres)
                {
                    Database = Name,
                }.ConnectionString,
            },
            _plan.Launcher
        );

    /// <summary>Writes the configuration at once: a host that starts meanwhile reads the one or the other.</summary>
    public async Task ConfigureAsync(JsonObject configuration)
    {
        var written = $"{Configuration}.new";
        await File.WriteAllTextAsync(written, configuration.ToJsonString());
        File.Move(written, Configuration, overwrite: true);
    }

    /// <summary>A load over all hosts.</summary>
    public LoadGenerator Load(LoadPlan plan) => new(plan, Ledger, AnyHost, Seed);

    /// <summary>Where one of the hosts takes messages in, whether it lives or not.</summary>
    public Uri AnyHost(Random random) => Farm.Hosts[random.Next(Farm.Hosts.Count)].Public;

    /// <summary>Sends a load while a nemesis is at work, and goes on with it until both are done and all hosts are ready again.</summary>
    /// <returns>How many were accepted.</returns>
    public async Task<int> RunAsync(LoadPlan plan, Nemesis nemesis, CancellationToken cancellationToken)
    {
        using var load = Load(plan);
        await RunAsync(faults => load.RunAsync(cancellationToken, until: faults), nemesis.RunAsync, cancellationToken);
        return load.Acknowledged;
    }

    /// <summary>The same with a load of another kind, which is given what strikes.</summary>
    public async Task RunAsync(Func<Task, Task> load, Func<CancellationToken, Task> strike, CancellationToken cancellationToken)
    {
        using var failure = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var faults = strike(failure.Token);
        try
        {
            await load(faults);
        }
        catch
        {
            await failure.CancelAsync(); // what was done is mended before others use the servers
            await faults.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            throw;
        }

        await faults;
        await Farm.WaitForReadyAsync(cancellationToken);
    }

    public static Nemesis NewNemesis() => new(Seed, Log);

    /// <summary>Waits until every promise holds at every sink and nothing is on its way any more, or the time is up.</summary>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <param name="amend">Corrects what is known of a sink; by default nothing.</param>
    /// <param name="concerns">Which messages a sink should get; by default all.</param>
    public async Task<IReadOnlyList<Verdict>> SettleAsync(
        CancellationToken cancellationToken,
        Func<SinkEvidence, SinkEvidence>? amend = null,
        Func<ISink, SentMessage, bool>? concerns = null
    )
    {
        var started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var verdicts = await CheckAsync(cancellationToken, amend, concerns);
            if (verdicts.All(verdict => verdict.Broken.Count == 0) || TimeProvider.System.GetElapsedTime(started) > Patience)
                return verdicts;
            await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        }
    }

    /// <summary>Waits until nothing waits for an endpoint, and nothing more arrives.</summary>
    public async Task WaitForEmptyQueuesAsync(CancellationToken cancellationToken)
    {
        for (var before = -1L; ; )
        {
            var queues = await Records.ReadQueuesAsync();
            var waiting = Sinks.Sum(sink => Records.WaitingFor(sink.Endpoint, queues));
            var arrived = 0L;
            foreach (var sink in Sinks)
                arrived += await sink.CountAsync(cancellationToken);
            if (waiting == 0 && arrived == before)
                return;
            before = arrived;
            await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        }
    }

    /// <summary>Looks once.</summary>
    public async Task<IReadOnlyList<Verdict>> CheckAsync(
        CancellationToken cancellationToken,
        Func<SinkEvidence, SinkEvidence>? amend = null,
        Func<ISink, SentMessage, bool>? concerns = null
    )
    {
        var queues = await Records.ReadQueuesAsync();
        var all = Ledger.Messages;
        var verdicts = new List<Verdict>();
        foreach (var sink in Sinks)
        {
            var evidence = new SinkEvidence
            {
                Endpoint = sink.Endpoint,
                Promises = sink.Promises,
                Entries = await sink.ReadAsync(cancellationToken),
                Kept = await Records.ReadKeptAsync(sink.Endpoint, cancellationToken),
                KeptByName = await Records.ReadKeptFilesAsync(sink.Endpoint, cancellationToken),
                TerminalStates = await Records.ReadTerminalStatesAsync(sink.Endpoint, cancellationToken),
                FlaggedDuplicates = await Records.CountDuplicatesAsync(sink.Endpoint, cancellationToken),
                Waiting = Records.WaitingFor(sink.Endpoint, queues),
            };
            IReadOnlyCollection<SentMessage> sent = concerns is null ? all : [.. all.Where(message => concerns(sink, message))];
            verdicts.Add(Checker.Check(sent, amend?.Invoke(evidence) ?? evidence));
        }

        return verdicts;
    }

    /// <summary>Writes the lines of the table, and fails where a promise does not hold.</summary>
    public void Conclude(IReadOnlyList<Verdict> verdicts, string size, string notes = "")
    {
        foreach (var verdict in verdicts)
        {
            FaultResults.Add(new FaultResult(_plan.Case, size, Seed, verdict, TimeProvider.System.GetElapsedTime(_started), notes));
            Log($"{_plan.Case} {verdict}; {notes}");
        }

        Assert.That(verdicts.SelectMany(verdict => verdict.Broken.Select(broken => $"{verdict.Endpoint}: {broken}")), Is.Empty);
    }

    /// <summary>Writes a line of the table for a case in which no messages are counted.</summary>
    public void Note(string size, string notes) =>
        FaultResults.Add(new FaultResult(_plan.Case, size, Seed, null, TimeProvider.System.GetElapsedTime(_started), notes));

    public async ValueTask DisposeAsync()
    {
        await Farm.DisposeAsync();
        await Network.DisposeAsync();
        foreach (var sink in Sinks)
            await sink.DisposeAsync();
        await Ledger.DisposeAsync();
        if (TestContext.CurrentContext.Result.Outcome.Status == TestStatus.Failed)
            await KeepEvidenceAsync();
        await Database.DisposeAsync();
        await using var server = NpgsqlDataSource.Create(Servers.Postgres);
        await using var connection = await server.OpenConnectionAsync();
        await connection.ExecuteAsync($"drop database \"{Name}\" with (force)", commandTimeout: 0);
        await DeleteQueuesAsync();
        _folder.Delete(recursive: true);
    }

    /// <summary>A connection of the test's own.</summary>
    public Task<IConnection> ConnectToBrokerAsync() =>
        RabbitMqAddress.Parse(Servers.RabbitMq)!.ToFactory("tests bench").CreateConnectionAsync();

    public static void Log(string line) => TestContext.Progress.WriteLine($"{TimeProvider.System.GetLocalNow():HH:mm:ss} {line}");

    private async Task DeleteQueuesAsync()
    {
        await using var broker = await ConnectToBrokerAsync();
        await using var channel = await broker.CreateChannelAsync();
        foreach (var (queue, _) in await Records.ReadQueuesAsync())
            await channel.QueueDeleteAsync($"{Name}.{queue}");
    }

    // What a failed run leaves for people to look at: ledger, what the hosts wrote, and what became of each message at each endpoint.
    private async Task KeepEvidenceAsync()
    {
        var kept = Directory.CreateDirectory(Repository.PathOf(".test", $"{_plan.Case}-{Seed}"));
        File.Copy(Path.Combine(Folder, "sent.ledger"), Path.Combine(kept.FullName, "sent.ledger"), overwrite: true);
        await File.WriteAllTextAsync(Path.Combine(kept.FullName, "hosts.log"), Farm.Output);
        foreach (var sink in Sinks)
            await File.WriteAllLinesAsync(
                Path.Combine(kept.FullName, $"{sink.Endpoint}.ledger"),
                (await sink.ReadAsync(CancellationToken.None)).Select(entry => $"{entry.At:O} {entry.Id}")
            );
        var facts = await Database.QueryAsync<string>(
            "select concat_ws(' ', occurred_at, endpoint, kind, part_kinds, message_id, attempt, code) from esb.audit_event where "
                + "endpoint is not null order by occurred_at",
            null,
            CancellationToken.None
        );
        await File.WriteAllLinesAsync(Path.Combine(kept.FullName, "facts.txt"), facts);
        Log($"The ledgers and what the hosts wrote are in {kept.FullName}");
    }
}
