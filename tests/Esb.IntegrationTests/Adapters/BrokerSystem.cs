using System.Text;
using Esb.IntegrationTests.MassTransit;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Adapters;

/// <summary>Queues of applications at RabbitMQ.</summary>
internal abstract class BrokerSystem : AdapterSystem
{
    private readonly List<Arrival> _arrived = [];
    private PrivateServers? _own;
    private IConnection _connection = null!;

    protected IChannel Channel { get; private set; } = null!;

    protected string Queue => $"adapter-{Id}";

    protected string Type => $"Adapter{Id}:Item";

    private string Broker => _own?.RabbitMq ?? Servers.RabbitMq;

    public override async Task KillAsync()
    {
        await DisconnectAsync();
        await _own!.KillAsync("rabbitmq");
    }

    public override async Task StartAgainAsync()
    {
        await _own!.StartAsync("rabbitmq");
        await ConnectAsync();
    }

    public override async Task PutManyAsync(int count, CancellationToken cancellationToken)
    {
        foreach (var numbers in Enumerable.Range(0, count).Chunk(500))
            await Task.WhenAll(numbers.Select(number => PutAsync(number, cancellationToken)));
    }

    protected override async Task<int?> PrepareAsync()
    {
        _own = IsToBeKilled ? await PrivateServers.StartAsync() : null;
        await ConnectAsync();
        await Channel.QueueDeclareAsync(Queue, durable: true, exclusive: false, autoDelete: false);
        return _connection.Endpoint.Port;
    }

    protected override (string Right, string Wrong) Credentials()
    {
        var address = new UriBuilder(Broker) { Host = "127.0.0.1", Port = Proxy.Port };
        var right = address.Uri.AbsoluteUri;
        address.Password = "wrong";
        return (right, address.Uri.AbsoluteUri);
    }

    protected override async Task StopAsync()
    {
        await Channel.QueueDeleteAsync(Queue);
        foreach (var exchange in new[] { Queue, Type })
            await Channel.ExchangeDeleteAsync(exchange);
        await DisconnectAsync();
        if (_own is not null)
            await _own.DisposeAsync();
    }

    private async Task ConnectAsync()
    {
        _connection = await new ConnectionFactory { Uri = new Uri(Broker) }.CreateConnectionAsync();
        Channel = await _connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true)
        );
    }

    private async Task DisconnectAsync()
    {
        await Channel.DisposeAsync();
        await _connection.DisposeAsync();
    }

    protected async Task PublishAsync(byte[] body, string contentType, int number, CancellationToken cancellationToken) =>
        await Channel.BasicPublishAsync(
            "",
            Queue,
            mandatory: true,
            new BasicProperties
            {
                ContentType = contentType,
                MessageId = new Guid(number + 1, 0, 0, new byte[8]).ToString(),
                Persistent = true,
            },
            body,
            cancellationToken
        );

    /// <summary>Takes what has come into the queue, and returns all that ever came.</summary>
    protected async Task<IReadOnlyList<Arrival>> DrainAsync(CancellationToken cancellationToken)
    {
        while (await Channel.BasicGetAsync(Queue, autoAck: true, cancellationToken) is { } message)
            _arrived.Add(ArrivalOf(message.BasicProperties.MessageId!, Encoding.UTF8.GetString(message.Body.Span)));
        return _arrived;
    }
}

/// <summary>Messages that MassTransit applications send.</summary>
internal sealed class MassTransitInboundSystem : BrokerSystem
{
    public override bool IsInbound => true;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "masstransit-inbound", "url": "${env:{{credential}}}", "messageType": "{{Type}}", "queue": "{{Queue}}", "maxConcurrentCalls": {{AtOnce}}
            """;

    public override Task PutAsync(int number, CancellationToken cancellationToken) =>
        PublishAsync(
            SomeMassTransit.Envelope(Type, BodyOf(number), new Guid(number + 1, 0, 0, new byte[8])),
            "application/vnd.masstransit+json",
            number,
            cancellationToken
        );
}

/// <summary>Messages that MassTransit applications get.</summary>
internal sealed class MassTransitOutboundSystem : BrokerSystem
{
    public override bool IsInbound => false;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "masstransit-outbound", "url": "${env:{{credential}}}", "messageType": "{{Type}}"
            """;

    public override Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) => DrainAsync(cancellationToken);

    protected override async Task<int?> PrepareAsync()
    {
        var port = await base.PrepareAsync();
        await Channel.ExchangeDeclareAsync(Type, ExchangeType.Fanout, durable: true);
        await Channel.QueueBindAsync(Queue, Type, "");
        return port;
    }

    public override Arrival ArrivalOf(string id, string body) =>
        new(id, NumberIn(System.Text.Json.JsonDocument.Parse(body).RootElement.GetProperty("message").GetRawText()));
}

/// <summary>Messages of a queue.</summary>
internal sealed class AmqpInboundSystem : BrokerSystem
{
    public override bool IsInbound => true;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "amqp-inbound", "url": "${env:{{credential}}}", "queue": "{{Queue}}", "maxConcurrentCalls": {{AtOnce}}
            """;

    public override Task PutAsync(int number, CancellationToken cancellationToken) =>
        PublishAsync(Encoding.UTF8.GetBytes(BodyOf(number)), "application/json", number, cancellationToken);
}

/// <summary>Messages that are put into a queue.</summary>
internal sealed class AmqpOutboundSystem : BrokerSystem
{
    public override bool IsInbound => false;

    public override string Endpoint(string credential) =>
        $$"""
            "type": "amqp-outbound", "url": "${env:{{credential}}}", "send": "queue:{{Queue}}"
            """;

    public override Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) => DrainAsync(cancellationToken);
}
