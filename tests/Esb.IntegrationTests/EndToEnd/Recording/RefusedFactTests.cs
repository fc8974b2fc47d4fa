using System.Net;
using System.Text.Json;
using Dapper;
using Esb.Core.Audit;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>A strict audit whose database refuses facts for good, by a constraint that somebody made.</summary>
[CancelAfter(120_000), Property("Case", "AUD-05")]
public sealed class RefusedFactTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private readonly string _prefix = $"test-{Guid.NewGuid():N}";
    private NpgsqlDataSource _database = null!;
    private DirectoryInfo _folder = null!;
    private OrderSink _shop = null!;
    private RunningHost _host = null!;

    private string Schema => _prefix.Replace('-', '_');

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _database = NpgsqlDataSource.Create(Servers.Postgres);
        _folder = Directory.CreateTempSubdirectory("esb-refused-");
        _shop = await OrderSink.StartAsync();
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{Schema}}" },
              "audit": { "mode": "strict" },
              "topics": { "orders": {} },
              "endpoints": {
                "orders-in": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "shop": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{_shop.Url}}" }
              }
            }
            """
        );
        _host = await RunningHost.StartAsync(
            "esb.json",
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_POSTGRES"] = Servers.Postgres }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _shop.DisposeAsync();
        await ExecuteAsync($"drop schema {Schema} cascade");
        await _database.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Order(1)]
    public async Task Message_that_may_not_be_recorded_is_refused_to_its_sender(CancellationToken cancellationToken)
    {
        await ExecuteAsync(
            $"alter table {Schema}.audit_event add constraint refused check (kind <> 'Received' and coalesce(part_kinds, 0) & 1 = 0)"
        );

        var first = await PostAsync("first", cancellationToken); // worked on at the same time, maybe
        var second = await PostAsync("second", cancellationToken);
        await ExecuteAsync($"alter table {Schema}.audit_event drop constraint refused");
        var third = await PostAsync("third", cancellationToken);
        await _host.WaitAsync(
            async _ => await CountDeliveredAsync(third.Id) == 1,
            Limit,
            "to deliver the third order and to record it",
            cancellationToken
        );

        Assert.That(
            (first.Status, second.Status, third.Status),
            Is.EqualTo((HttpStatusCode.InternalServerError, HttpStatusCode.InternalServerError, HttpStatusCode.Accepted))
        );
        Assert.That(first.Code, Is.AnyOf("ESB-AUD-UNRECORDED", "ESB-AUD-WRITE"));
        Assert.That(second.Code, Is.EqualTo("ESB-AUD-WRITE"));
        Assert.That(_shop.At("/orders"), Has.One.EqualTo("third").And.None.EqualTo("second"), "what cannot be recorded is not worked on");
    }

    [Test, Order(2)]
    public async Task Message_whose_delivery_may_not_be_recorded_is_delivered_once_and_its_fact_put_aside(
        CancellationToken cancellationToken
    )
    {
        await ExecuteAsync(
            $"alter table {Schema}.audit_event add constraint refused check (kind <> 'Delivered' and coalesce(part_kinds, 0) & 16 = 0) "
                + "not valid"
        );

        var (status, _, id) = await PostAsync("fourth", cancellationToken);
        await _host.WaitAsync(
            _ => Task.FromResult(_host.Output.Contains($"Delivered, of message {id}", StringComparison.Ordinal)),
            Limit,
            "to put the fact aside",
            cancellationToken
        );
        var exitCode = await _host.StopAsync(cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That((status, exitCode), Is.EqualTo((HttpStatusCode.Accepted, 0)));
            Assert.That(_shop.At("/orders").Count(body => body == "fourth"), Is.EqualTo(1));
            Assert.That(await CountWaitingAsync(cancellationToken), Is.Zero, "it would be delivered again");
            Assert.That(
                ReadAside().Select(fact => (fact.Kind, fact.MessageId, fact.Endpoint)),
                Is.EqualTo([(AuditKind.Delivered, id, "shop")])
            );
            await _host.WaitForLogAsync(cancellationToken, "ESB-AUD-WRITE: the store refuses audit fact");
        }
    }

    private async Task<(HttpStatusCode Status, string? Code, Guid Id)> PostAsync(string body, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", body, "text/plain", cancellationToken);
        var answer = JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken)).RootElement;
        Assert.That(response.Headers.RetryAfter, Is.Null);
        return (
            response.StatusCode,
            answer.TryGetProperty("code", out var code) ? code.GetString() : null,
            Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single())
        );
    }

    private async Task<long> CountDeliveredAsync(Guid id)
    {
        await using var connection = await _database.OpenConnectionAsync();
        return await connection.ExecuteScalarAsync<long>(
            $"select count(*) from {Schema}.audit_event where (kind = 'Delivered' or part_kinds & 16 <> 0) and message_id = @id",
            new { id }
        );
    }

    private async Task<uint> CountWaitingAsync(CancellationToken cancellationToken)
    {
        await using var broker = await RabbitMqAddress.Parse(Servers.RabbitMq)!.ToFactory("tests").CreateConnectionAsync(cancellationToken);
        await using var channel = await broker.CreateChannelAsync(cancellationToken: cancellationToken);
        return await channel.QueueDeleteAsync(
            $"{_prefix}.endpoints.esb.shop",
            ifUnused: false,
            ifEmpty: false,
            cancellationToken: cancellationToken
        ); // says how many were in it
    }

    private List<AuditFact> ReadAside() =>
        [
            .. new SegmentReader(Path.Combine(_folder.FullName, "esb-data", "spool", "refused"), committed: null, NullLogger.Instance)
                .ReadNew()
                .SelectMany(record => StoredFact.Read(record.Payload)),
        ];

    private async Task ExecuteAsync(string sql)
    {
        await using var connection = await _database.OpenConnectionAsync();
        await connection.ExecuteAsync(sql);
    }
}
