using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Dapper;
using Esb.IntegrationTests.EndToEnd;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Storage;
using Npgsql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A host whose process places orders in a transaction, under load, while the host or the database is killed: nothing is lost,
/// nothing has its effect twice, each customer's orders keep their order.</summary>
[NonParallelizable]
[OwnProcess]
public sealed class TransactionFaultTests
{
    private const int Customers = 8;

    private const string Configuration = """
        {
          "name": "transactions",
          "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}" },
          "connections": { "shop": { "connection": "${env:ESB_POSTGRES}" } },
          "topics": { "orders": { "key": { "jsonpath": "$.customer" } } },
          "endpoints": {
            "orders": { "type": "http-inbound", "path": "/orders", "process": "place" },
            "insert": {
              "type": "sql-outbound", "connection": "shop", "poolSize": 16,
              "execute": "insert into placed (message_id) values (@id)", "parameters": { "id": { "message": "id" } }
            },
            "arrivals": {
              "type": "sql-outbound", "subscribe": ["orders.#"], "connection": "shop", "once": true, "delivery": "ordered",
              "execute": "insert into arrived (message_id, customer, number) values (@id, @customer, @number)",
              "parameters": { "id": { "message": "id" }, "customer": { "jsonpath": "$.customer" }, "number": { "jsonpath": "$.number" } }
            }
          },
          "processes": { "place": [{ "transaction": { "connection": "shop", "steps": [{ "call": "insert" }, { "publish": "orders.placed" }] } }] }
        }
        """;

    private readonly ConcurrentBag<Guid> _accepted = [];
    private DirectoryInfo _folder = null!;
    private PrivatePostgres _postgres = null!;
    private NpgsqlDataSource _database = null!;
    private string _prefix = null!;
    private RunningHost? _host;

    [SetUp]
    public async Task StartServers()
    {
        _accepted.Clear();
        _prefix = $"test-{Guid.NewGuid():N}";
        _folder = Directory.CreateTempSubdirectory("esb-transactions-");
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), Configuration);
        _postgres = await PrivatePostgres.StartAsync();
        _database = NpgsqlDataSource.Create(_postgres.Connection);
        await using var connection = await _database.OpenConnectionAsync();
        await connection.ExecuteAsync(
            """
            create table placed (message_id uuid not null);
            create table arrived (position bigint generated always as identity, message_id uuid not null, customer integer not null, number integer not null);
            """
        );
    }

    [TearDown]
    public async Task StopServers()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        await _database.DisposeAsync();
        await _postgres.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Faults"), CancelAfter(120_000), Property("Case", "T-DUP-2")]
    public async Task Host_that_is_killed_again_and_again_loses_and_doubles_nothing(CancellationToken cancellationToken)
    {
        for (var round = 0; round < 2; round++)
        {
            await StartHostAsync(cancellationToken);
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            var load = LoadAsync(round, stop.Token);
            await AcceptMoreAsync(cancellationToken);
            _host!.Kill();
            await stop.CancelAsync();
            await load;
            await _host.DisposeAsync();
        }

        await StartHostAsync(cancellationToken);
        await CheckAsync(cancellationToken);
    }

    [Test, Category("Faults"), CancelAfter(120_000), Property("Case", "SQL-16")]
    public async Task Database_that_is_killed_under_load_loses_and_doubles_nothing(CancellationToken cancellationToken)
    {
        await StartHostAsync(cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = LoadAsync(0, stop.Token);

        await AcceptMoreAsync(cancellationToken);
        await _postgres.KillAsync();
        await _postgres.StartAgainAsync();
        await AcceptMoreAsync(cancellationToken);
        await stop.CancelAsync();
        await load;
        _database.Clear(); // its idle connections died with the server

        await CheckAsync(cancellationToken);
    }

    private Task AcceptMoreAsync(CancellationToken cancellationToken)
    {
        var enough = _accepted.Count + 300;
        return _host!.WaitAsync(
            _ => Task.FromResult(_accepted.Count >= enough),
            TimeSpan.FromSeconds(40),
            "to accept 300 orders more",
            cancellationToken
        );
    }

    // Each customer sends one order after another; one that is refused, or of which nobody can tell, is not sent again.
    private Task LoadAsync(int round, CancellationToken cancellationToken) =>
        Task.WhenAll(
            Enumerable
                .Range(0, Customers)
                .Select(async customer =>
                {
                    for (var number = round * 1_000_000; !cancellationToken.IsCancellationRequested; number++)
                    {
                        try
                        {
                            using var response = await _host!.PostAsync(
                                "/orders",
                                $$"""{"customer": {{customer}}, "number": {{number}}}""",
                                "application/json",
                                cancellationToken
                            );
                            if (response.StatusCode == HttpStatusCode.Accepted)
                                _accepted.Add(Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single()));
                        }
                        catch (Exception ex) when (ex is HttpRequestException or SocketException or OperationCanceledException)
                        {
                            if (cancellationToken.IsCancellationRequested)
                                return;
                            await Task.Delay(10, CancellationToken.None);
                        }
                    }
                })
        );

    private async Task CheckAsync(CancellationToken cancellationToken)
    {
        await using var connection = await _database.OpenConnectionAsync(cancellationToken);
        var missing = 0L;
        await _host!.WaitAsync(
            async _ =>
                (
                    missing = await connection.ExecuteScalarAsync<long>(
                        "select count(*) from placed where message_id not in (select message_id from arrived)"
                    )
                ) == 0,
            TimeSpan.FromSeconds(60),
            "to deliver every order that was placed",
            cancellationToken
        );
        await _host.WaitAsync(
            async token => (await _host.AskAsync("/api/outboxes", token)).GetProperty("items")[0].GetProperty("waiting").GetInt64() == 0,
            TimeSpan.FromSeconds(20),
            "to empty its outbox",
            cancellationToken
        );
        var placed = (await connection.QueryAsync<Guid>("select message_id from placed")).ToHashSet();
        var arrived = (await connection.QueryAsync<Guid>("select message_id from arrived")).ToList();
        var overtaken = await connection.ExecuteScalarAsync<long>(
            "select count(*) from (select number, lag(number) over (partition by customer order by position) as earlier from "
                + "arrived) as pairs where number <= earlier"
        );
        TestContext.Out.WriteLine(
            $"accepted {_accepted.Count}, placed {placed.Count}, arrived {arrived.Count}, missing {missing}, overtaken {overtaken}"
        );
        var lost = _accepted.Except(placed).ToList();
        foreach (var id in lost)
            TestContext.Out.WriteLine($"lost {id}: {await _host.FindAsync($"/api/messages/{id}", cancellationToken)}");
        if (lost.Count > 0)
            TestContext.Out.WriteLine($"dead letters: {await _host.AskAsync("/api/dead-letters", cancellationToken)}\n{_host.Output}");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(lost, Is.Empty, "lost");
            Assert.That(arrived, Is.Unique, "doubled");
            Assert.That(arrived, Is.EquivalentTo(placed), "published without its effect");
            Assert.That(overtaken, Is.Zero, "reordered");
        }
    }

    private async Task StartHostAsync(CancellationToken cancellationToken) =>
        _host = await RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB_POSTGRES"] = _postgres.Connection,
                ["ESB__TRANSPORT__PREFIX"] = _prefix,
            }
        );
}
