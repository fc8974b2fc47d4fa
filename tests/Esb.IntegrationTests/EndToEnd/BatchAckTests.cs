using System.Net;
using Dapper;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Sql;
using Esb.IntegrationTests.Topics;
using Npgsql;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Messages over a broker that share a commit, in a whole host, while the database holds that commit up.</summary>
[NonParallelizable, Category("Failures"), CancelAfter(180_000)]
[OwnProcess]
public sealed class BatchAckTests
{
    private const int Messages = 8;

    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);

    private readonly int _gate = Random.Shared.Next(1_000_000, int.MaxValue);
    private readonly TestBroker _broker = new();
    private DirectoryInfo _folder = null!;
    private Shop _shop = null!;

    private string Queue => _broker.Names.Endpoint("ledger");

    [SetUp]
    public async Task MakeTables()
    {
        _folder = Directory.CreateTempSubdirectory("esb-batch-");
        _shop = await Shop.CreateAsync();

        // Asked at the commit, when all statements have had their effect.
        await _shop.ExecuteAsync(
            $"""
            create table effects (number bigint generated always as identity primary key, message_id uuid not null);
            create function pass_gate() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared({_gate}); return null; end $$;
            create constraint trigger gate after insert on effects deferrable initially deferred for each row execute function pass_gate();
            """
        );
    }

    [TearDown]
    public async Task CleanUp()
    {
        await _shop.DisposeAsync();
        await _broker.CleanUpAsync();
        await using var connection = await _broker.ConnectAsync();
        await using var channel = await connection.CreateChannelAsync();
        foreach (var endpoint in (string[])["ledger", "witness"])
            await channel.QueueDeleteAsync(_broker.Names.Endpoint(endpoint));
        await channel.ExchangeDeleteAsync(_broker.Names.Topic("orders"));
        _folder.Delete(recursive: true);
    }

    [Test, Category("Faults"), Category("WaitsLong")]
    public async Task No_message_of_a_batch_is_acknowledged_before_the_commit_and_each_has_its_effect_once(
        CancellationToken cancellationToken
    )
    {
        await using var database = NpgsqlDataSource.Create(Servers.Postgres);
        await using var gatekeeper = await database.OpenConnectionAsync(cancellationToken);
        await gatekeeper.ExecuteAsync("select pg_advisory_lock(@key)", new { key = (long)_gate });
        await using var host = await StartHostAsync(cancellationToken);
        for (var number = 0; number < Messages; number++)
        {
            using var response = await host.PostAsync("/orders", $"{number}", "text/plain", cancellationToken);
            Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        }

        await host.WaitAsync(
            async token => await CommitsThatWaitAsync(gatekeeper) > 0 && await ReadyAsync(token) == 0,
            Soon,
            "to be held up in a commit, with every message in hand",
            cancellationToken
        );
        await host.WaitAsync(
            async token => await CountAsync(host, "delivered", "witness", token) == Messages,
            Soon,
            "to deliver what the database does not hold up",
            cancellationToken
        );
        var delivered = await CountAsync(host, "delivered", "ledger", cancellationToken);
        host.Kill();
        await host.DisposeAsync();

        Assert.That(delivered, Is.Zero, "none is delivered yet");
        await Eventually.HoldsAsync(async () => await ReadyAsync(cancellationToken) > 0, cancellationToken);
        Assert.That(await ReadyAsync(cancellationToken), Is.EqualTo(Messages), "the broker has all of them again: none was acknowledged");
        Assert.That(await EffectsAsync(), Is.Empty, "nothing was committed");

        // the commit that nobody waits for any more comes through
        await gatekeeper.ExecuteAsync("select pg_advisory_unlock(@key)", new { key = (long)_gate });
        await using var successor = await StartHostAsync(cancellationToken);
        await successor.WaitAsync(
            async token =>
                await CountAsync(successor, "delivered", "ledger", token) + await CountAsync(successor, "duplicate", "ledger", token)
                == Messages,
            Soon,
            "to deliver the messages again, or to recognise them",
            cancellationToken
        );
        Assert.That(await successor.StopAsync(cancellationToken), Is.Zero);

        Assert.That(await EffectsAsync(), Has.Count.EqualTo(Messages).And.Unique);
        Assert.That(await ReadyAsync(cancellationToken), Is.Zero, "all are acknowledged by now");
    }

    private Task<RunningHost> StartHostAsync(CancellationToken cancellationToken)
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(
            file,
            $$"""
            {
              "name": "tests",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{_broker.Prefix}}" },
              "connections": { "shop": { "connection": "${env:SHOP}" } },
              "topics": { "orders": {} },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ledger": {
                  "type": "sql-outbound", "subscribe": ["orders.#"], "connection": "shop", "once": true, "batch": { "size": {{Messages}}, "within": "1s" }, "timeout": "60s", "poolSize": {{Messages}}, "processingThreads": {{Messages}},
                  "execute": "insert into effects (message_id) values (@id)", "parameters": { "id": { "message": "id" } }
                },
                "witness": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "witness", "fileName": "{message.id}.txt" }
              }
            }
            """
        );
        return RunningHost.StartAsync(
            file,
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string> { ["SHOP"] = _shop.ConnectionString }
        );
    }

    private Task<long> CommitsThatWaitAsync(NpgsqlConnection connection) =>
        connection.ExecuteScalarAsync<long>(
            "select count(*) from pg_locks where locktype = 'advisory' and objid = @key and not granted",
            new { key = (long)_gate }
        );

    private async Task<List<Guid>> EffectsAsync() => await _shop.ReadAsync<Guid>("select message_id from effects");

    // Those that no host has in hand.
    private async Task<uint> ReadyAsync(CancellationToken cancellationToken)
    {
        await using var connection = await _broker.ConnectAsync();
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        return (await channel.QueueDeclarePassiveAsync(Queue, cancellationToken)).MessageCount;
    }

    private static async Task<int> CountAsync(RunningHost host, string kind, string endpoint, CancellationToken cancellationToken) =>
        (await host.AskAsync($"/api/messages?kind={kind}&endpoint={endpoint}&limit=1000", cancellationToken))
            .GetProperty("items")
            .GetArrayLength();
}
