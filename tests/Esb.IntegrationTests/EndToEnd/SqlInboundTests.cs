using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sql;
using Esb.IntegrationTests.Storage;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>A host that takes rows out of a table into a topic: each once, over kills, and in whatever order they commit.</summary>
[CancelAfter(240_000)]
public sealed class SqlInboundTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90); // a lease lasts 10 s

    private DirectoryInfo _folder = null!;
    private PrivatePostgres? _own;
    private string _postgres = "";
    private Shop _shop = null!;
    private RunningHost? _host;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-rows-");

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        await _shop.DisposeAsync();
        if (_own is not null)
            await _own.DisposeAsync();
        _own = null;
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Rows_go_into_a_table_once_each(CancellationToken cancellationToken)
    {
        await PrepareAsync(Servers.Postgres);
        await _shop.ExecuteAsync("insert into jobs (note) select 'job' from generate_series(1, 50)");

        await StartAsync(cancellationToken);
        await WaitForAsync(50, cancellationToken);

        await AssertOnceAsync(50, cancellationToken);
    }

    [Test, Category("Faults")]
    [OwnProcess]
    public async Task Rows_are_taken_once_over_kills(CancellationToken cancellationToken)
    {
        _own = await PrivatePostgres.StartAsync();
        await PrepareAsync(_own.Connection);
        for (var kill = 0; kill < 3; kill++)
        {
            await _shop.ExecuteAsync("insert into jobs (note) select 'job' from generate_series(1, 500)");
            await StartAsync(cancellationToken);
            await WaitForAsync((500 * kill) + 50, cancellationToken);
            await _own.KillAsync();
            await _own.StartAgainAsync();
            await WaitForAsync((500 * kill) + 100, cancellationToken);
            _host!.Kill();
            await _host.DisposeAsync();
        }

        await StartAsync(cancellationToken);
        await WaitForAsync(1500, cancellationToken);

        await AssertOnceAsync(1500, cancellationToken);
    }

    [Test, Category("Thorough")]
    public async Task Rows_of_a_hundred_writers_that_commit_out_of_order_are_not_missed(CancellationToken cancellationToken)
    {
        await PrepareAsync(Servers.Postgres);
        await StartAsync(cancellationToken);

        await Task.WhenAll(
            Enumerable
                .Range(0, 100)
                .Select(async writer =>
                {
                    for (var row = 0; row < 10; row++)
                        await _shop.ExecuteAsync(
                            $"begin; insert into jobs (note) values ('{writer}'); select pg_sleep({(writer * 7 + row * 13) % 40} / "
                                + $"100.0); commit"
                        );
                })
        );
        await WaitForAsync(1000, cancellationToken);

        await AssertOnceAsync(1000, cancellationToken);
    }

    private async Task PrepareAsync(string postgres)
    {
        var prefix = $"test-{Guid.NewGuid():N}"; // the inbox of the database knows the ids of another test's rows
        (_postgres, _shop) = (postgres, await Shop.CreateAsync(postgres));
        await _shop.ExecuteAsync(
            "create table jobs (id serial primary key, note text, taken boolean not null default false); create table done (job int "
                + "not null, message uuid not null)"
        );
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "rows-{{prefix[^6..]}}",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{prefix}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{prefix.Replace('-', '_')}}" },
              "connections": { "shop": { "provider": "npgsql", "connection": "${env:SHOP}" } },
              "topics": { "jobs": {} },
              "endpoints": {
                "taker": {
                  "type": "sql-inbound", "connection": "shop", "publish": "jobs.new", "interval": "100ms",
                  "query": "select id, note from jobs where not taken order by id limit 20", "after": "update jobs set taken = true where id = @id"
                },
                "ledger": {
                  "type": "sql-outbound", "connection": "shop", "subscribe": ["jobs.#"], "execute": "insert into done values (@job, @message)", "once": true,
                  "poolSize": 4, "processingThreads": 4, "parameters": { "job": { "jsonpath": "$.id" }, "message": { "message": "id" } }
                }
              }
            }
            """
        );
    }

    private async Task AssertOnceAsync(long rows, CancellationToken cancellationToken)
    {
        Assert.That(await _shop.ReadAsync<long>("select count(*) from done", cancellationToken), Is.EqualTo([rows]));
        Assert.That(await _shop.ReadAsync<long>("select count(distinct job) from done", cancellationToken), Is.EqualTo([rows]));
        Assert.That(await _shop.ReadAsync<long>("select count(*) from jobs where not taken", cancellationToken), Is.EqualTo([0]));
    }

    private async Task StartAsync(CancellationToken cancellationToken) =>
        _host = await RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB_POSTGRES"] = _postgres,
                ["SHOP"] = _shop.ConnectionString,
            }
        );

    private Task WaitForAsync(long count, CancellationToken cancellationToken) =>
        _host!.WaitAsync(async token => await CountAsync(token) >= count, Limit, $"to take {count} rows", cancellationToken);

    private async Task<long> CountAsync(CancellationToken cancellationToken)
    {
        try
        {
            return (await _shop.ReadAsync<long>("select count(*) from done", cancellationToken))[0];
        }
        catch (NpgsqlException)
        {
            return 0; // the connection was lost with the server
        }
    }
}
