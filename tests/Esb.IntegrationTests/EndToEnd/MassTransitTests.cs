using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>A host that MassTransit applications publish to, with what they should not publish, and a broker that is not as
/// expected.</summary>
[CancelAfter(240_000)]
public sealed class MassTransitTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly string _id = Guid.NewGuid().ToString("N")[..8];
    private DirectoryInfo _folder = null!;
    private RunningHost? _host;
    private IConnection _connection = null!;
    private IChannel _channel = null!;

    private string Orders => $"T{_id}:Order";

    private string Prices => $"T{_id}:GetPrice";

    [SetUp]
    public async Task Connect()
    {
        _folder = Directory.CreateTempSubdirectory("esb-masstransit-");
        _connection = await new ConnectionFactory { Uri = new Uri(Servers.RabbitMq) }.CreateConnectionAsync();
        _channel = await _connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true)
        );
    }

    [TearDown]
    public async Task Forget()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        foreach (var queue in new[] { "orders", "prices", "more" })
            await _channel.QueueDeleteAsync($"esb-mt{_id}-{queue}");
        foreach (var exchange in new[] { Orders, Prices, $"T{_id}:IOrder", $"T{_id}:Old", $"esb-mt{_id}-orders", $"esb-mt{_id}-prices" })
            await _channel.ExchangeDeleteAsync(exchange);
        await _channel.DisposeAsync();
        await _connection.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Poison_becomes_dead_letters_and_stops_nothing(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        var deep = string.Concat(Enumerable.Repeat("""{"a":""", 25_000)) + "1" + new string('}', 25_000);

        await PublishAsync(Orders, "no json");
        await PublishAsync(Orders, """{ "messageType": [] }""");
        await PublishAsync(Orders, $$"""{ "messageType": ["urn:message:{{Orders}}"], "message": {{deep}} }""");
        await PublishAsync(Orders, """{ "messageType": ["urn:message:T:Stranger"], "message": {} }""");
        await PublishAsync(Orders, "<order/>", "application/xml");
        await PublishAsync(Orders, Envelope(Orders, """{"number":1}"""));
        await PublishAsync(Orders, """{"number":2}""", "application/json");
        await WaitForFilesAsync(2, cancellationToken);
        await WaitForLettersAsync(5, cancellationToken);

        Assert.That(
            await CodesAsync(cancellationToken),
            Is.EquivalentTo(["ESB-MT-ENVELOPE", "ESB-MT-ENVELOPE", "ESB-MT-ENVELOPE", "ESB-MT-MESSAGETYPE", "ESB-MT-CONTENTTYPE"])
        );
    }

    [Test]
    public async Task Message_of_two_types_is_taken_once(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        // as MassTransit binds an interface
        await _channel.ExchangeBindAsync($"T{_id}:IOrder", Orders, "", cancellationToken: cancellationToken);

        await PublishAsync(
            Orders,
            $$"""{ "messageType": ["urn:message:{{Orders}}", "urn:message:T{{_id}}:IOrder"], "messageId": "{{Guid.NewGuid()}}", "message": {} }"""
        );
        await PublishAsync(Orders, Envelope(Orders, "{}"));
        await WaitForFilesAsync(2, cancellationToken);

        await _host!.WaitAsync(async token => await TakenAsync(token) >= 2, TimeSpan.FromSeconds(30), "to count both", cancellationToken);
        Assert.That(await TakenAsync(cancellationToken), Is.EqualTo(2));

        async Task<long> TakenAsync(CancellationToken token) =>
            (await _host!.AskAsync("/api/endpoints/orders", token)).GetProperty("messages").GetInt64();
    }

    [Test]
    public async Task Request_with_an_answer_address_of_ours_is_not_worked_on(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);

        await PublishAsync(
            Prices,
            Envelope(
                Prices,
                "{}",
                $$""", "requestId": "{{Guid.NewGuid()}}", "responseAddress": "rabbitmq://localhost/mt{{_id}}.topics.t" """
            )
        );
        await PublishAsync(
            Prices,
            Envelope(Prices, "{}", $$""", "requestId": "{{Guid.NewGuid()}}", "responseAddress": "rabbitmq://localhost/gone-{{_id}}" """)
        );
        await PublishAsync(
            Prices,
            Envelope(Prices, "{}", $$""", "requestId": "{{Guid.NewGuid()}}", "responseAddress": "rabbitmq://localhost/other/amq.fanout" """)
        );
        await WaitForLettersAsync(3, cancellationToken);

        Assert.That(await CodesAsync(cancellationToken), Is.All.EqualTo("ESB-AMQP-REPLYTO"));
        Assert.That(Directory.GetFiles(_folder.FullName, "*.price"), Is.Empty);
    }

    [Test]
    public async Task Exchange_of_another_kind_is_told_and_left_as_it_is(CancellationToken cancellationToken)
    {
        await _channel.ExchangeDeclareAsync(Orders, "direct", durable: true, cancellationToken: cancellationToken);
        await StartAsync(cancellationToken);

        JsonElement status = default;
        await _host!.WaitAsync(
            async token =>
                (status = await _host.AskAsync("/api/endpoints/orders", token)).TryGetProperty("reason", out var reason)
                && reason.GetString()?.StartsWith("ESB-CFG-QUEUEDRIFT", StringComparison.Ordinal) == true,
            Limit,
            "to say so",
            cancellationToken
        );

        Assert.That(status.GetProperty("state").GetString(), Is.EqualTo("paused").IgnoreCase);
        Assert.That(
            async () => await _channel.ExchangeDeclareAsync(Orders, "direct", durable: true, cancellationToken: cancellationToken),
            Throws.Nothing
        );
        await PublishAsync(Prices, Envelope(Prices, "{}")); // the others run
        await WaitForFilesAsync(1, cancellationToken, "*.price");
    }

    [Test]
    public async Task Paused_endpoint_leaves_its_messages_in_the_queue(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken);
        await PauseAsync(true, cancellationToken);
        await PublishAsync(Orders, Envelope(Orders, "{}"));
        await _host!.WaitAsync(
            async token => (await _channel.QueueDeclarePassiveAsync($"esb-mt{_id}-orders", token)) is { MessageCount: 1, ConsumerCount: 0 },
            Limit,
            "to give it back",
            cancellationToken
        );

        await PauseAsync(false, cancellationToken);
        await WaitForFilesAsync(1, cancellationToken);
    }

    [Test, Category("Thorough")]
    public async Task Message_type_that_is_no_longer_received_is_unbound(CancellationToken cancellationToken)
    {
        await StartAsync(cancellationToken, $"\"T{_id}:Old\", ");
        await _host!.StopAsync(cancellationToken);
        await _host.DisposeAsync();
        await StartAsync(cancellationToken);

        await PublishAsync($"T{_id}:Old", Envelope($"T{_id}:Old", "{}"));
        await PublishAsync(Orders, Envelope(Orders, "{}"));
        await WaitForFilesAsync(1, cancellationToken);

        Assert.That(await CodesAsync(cancellationToken), Is.Empty);
    }

    private async Task PauseAsync(bool isPaused, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Patch, new Uri(_host!.Management, "/api/endpoints/orders"))
        {
            Content = JsonContent.Create(new { paused = isPaused }),
        };
        request.Headers.Authorization = new AuthenticationHeaderValue(
            "Bearer",
            (await File.ReadAllTextAsync(Path.Combine(_host.Folder, "esb-data", "management.key"), cancellationToken)).Trim()
        );
        using var response = await _host.Client.SendAsync(request, cancellationToken);
        Assert.That(response.IsSuccessStatusCode, Is.True);
    }

    private async Task StartAsync(CancellationToken cancellationToken, string moreTypes = "")
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "mt{{_id}}",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "mt{{_id}}" },
              "topics": { "t": {} },
              "endpoints": {
                "orders": { "type": "masstransit-inbound", "messageType": [{{moreTypes}}"{{Orders}}", "T{{_id}}:IOrder"], "publish": "t.order" },
                "prices": { "type": "masstransit-inbound", "messageType": "{{Prices}}", "mode": "request-reply", "replyType": "T{{_id}}:Price", "process": "price" },
                "files": { "type": "file-outbound", "folder": ".", "fileName": "{message.id}.order", "subscribe": ["t.order"], "processingThreads": 4, "poolSize": 4 },
                "priced": { "type": "file-outbound", "folder": ".", "fileName": "{message.id}.price", "subscribe": ["t.price"] }
              },
              "processes": { "price": [{ "publish": "t.price" }, { "respond": { "contentType": "application/json", "body": { "amount": 1 } } }] }
            }
            """,
            cancellationToken
        );
        _host = await RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq }
        );
    }

    private static string Envelope(string type, string message, string more = "") =>
        $$"""{ "messageId": "{{Guid.NewGuid()}}", "messageType": ["urn:message:{{type}}"], "message": {{message}}{{more}} }""";

    private async Task PublishAsync(string exchange, string body, string contentType = "application/vnd.masstransit+json") =>
        await _channel.BasicPublishAsync(
            exchange,
            "",
            mandatory: false,
            new BasicProperties
            {
                ContentType = contentType,
                MessageId = Guid.NewGuid().ToString(),
                Persistent = true,
            },
            Encoding.UTF8.GetBytes(body)
        );

    private Task WaitForFilesAsync(int count, CancellationToken cancellationToken, string pattern = "*.order") =>
        _host!.WaitAsync(
            _ => Task.FromResult(Directory.GetFiles(_folder.FullName, pattern).Length >= count),
            Limit,
            $"to write {count} files",
            cancellationToken
        );

    private async Task WaitForLettersAsync(int count, CancellationToken cancellationToken) =>
        await _host!.WaitAsync(
            async token => (await CodesAsync(token)).Count >= count,
            Limit,
            $"to keep {count} dead letters",
            cancellationToken
        );

    private async Task<List<string>> CodesAsync(CancellationToken cancellationToken) =>
        [
            .. (await _host!.AskAsync("/api/dead-letters", cancellationToken))
                .GetProperty("items")
                .EnumerateArray()
                .Select(letter => letter.GetProperty("code").GetString()!),
        ];
}
