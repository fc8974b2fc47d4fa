using System.Text;
using Esb.IntegrationTests.EndToEnd.Hosts;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>samples/amqp beside an application that only knows queues and exchanges of its own.</summary>
[CancelAfter(240_000)]
[OwnProcess]
public sealed class AmqpTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private string _id = null!;
    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;
    private IConnection _connection = null!;
    private IChannel _channel = null!;

    private string Orders => $"a{_id}-orders";

    private string Prices => $"a{_id}-prices";

    private string Answers => $"a{_id}-answers";

    private string Warehouse => $"a{_id}-warehouse";

    private string Europe => $"a{_id}-europe";

    [OneTimeSetUp]
    public async Task Connect()
    {
        _id = Guid.NewGuid().ToString("N")[..8];
        _folder = Directory.CreateTempSubdirectory("esb-amqp-");
        _connection = await new ConnectionFactory { Uri = new Uri(Servers.RabbitMq) }.CreateConnectionAsync();
        _channel = await _connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true)
        );
        var sample = await File.ReadAllTextAsync(Repository.PathOf("samples", "amqp", "esb.json"));
        var own = sample
            .Replace("\"amqp\"", $"\"a{_id}\"", StringComparison.Ordinal)
            .Replace("\"shop-", $"\"a{_id}-", StringComparison.Ordinal)
            .Replace(
                "\"exchange\": \"warehouse\"",
                $$"""
                "retry": { "immediate": 1, "delays": [] }, "exchange": "{{Warehouse}}"
                """,
                StringComparison.Ordinal
            );
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), own);
        await StartHostAsync(CancellationToken.None);
        await _channel.QueueDeclareAsync(Answers, durable: true, exclusive: false, autoDelete: false);
        await _channel.QueueDeclareAsync(Europe, durable: true, exclusive: false, autoDelete: false);
        await _channel.ExchangeDeclareAsync(Warehouse, ExchangeType.Topic, durable: true);
        await _channel.QueueBindAsync(Europe, Warehouse, "orders.eu");
    }

    [OneTimeTearDown]
    public async Task Forget()
    {
        await _host.DisposeAsync();
        foreach (var queue in new[] { Orders, Prices, Answers, Europe })
            await _channel.QueueDeleteAsync(queue);
        await _channel.ExchangeDeleteAsync(Warehouse);
        await _channel.DisposeAsync();
        await _connection.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Order(1)]
    public async Task Message_of_a_queue_reaches_an_exchange_with_its_id_and_headers(CancellationToken cancellationToken)
    {
        var id = Guid.NewGuid();

        await PublishAsync(
            Orders,
            "<order/>",
            new BasicProperties
            {
                MessageId = id.ToString(),
                ContentType = "application/xml",
                CorrelationId = "C-1",
                Headers = Region("eu"),
            }
        );
        var copy = await GetAsync(Europe, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (copy.BasicProperties.MessageId, copy.BasicProperties.ContentType, copy.BasicProperties.CorrelationId),
                Is.EqualTo((id.ToString(), "application/xml", "C-1"))
            );
            Assert.That(
                (Encoding.UTF8.GetString(copy.Body.Span), copy.RoutingKey, copy.BasicProperties.Persistent),
                Is.EqualTo(("<order/>", "orders.eu", true))
            );
            Assert.That(Encoding.UTF8.GetString((byte[])copy.BasicProperties.Headers!["x-region"]!), Is.EqualTo("eu"));
        }
    }

    [Test, Order(2)]
    public async Task Requester_gets_its_answer_and_its_fault(CancellationToken cancellationToken)
    {
        await PublishAsync(
            Prices,
            """{"sku":"A-1"}""",
            new BasicProperties
            {
                CorrelationId = "known",
                ReplyTo = Answers,
                ContentType = "application/json",
            }
        );
        var known = await GetAsync(Answers, cancellationToken);
        await PublishAsync(
            Prices,
            """{"sku":"B-1"}""",
            new BasicProperties
            {
                CorrelationId = "unknown",
                ReplyTo = Answers,
                ContentType = "application/json",
            }
        );
        var unknown = await GetAsync(Answers, cancellationToken);

        Assert.That(
            (known.BasicProperties.CorrelationId, Encoding.UTF8.GetString(known.Body.Span)),
            Is.EqualTo(("known", """{"amount":9.95}"""))
        );
        Assert.That(
            (unknown.BasicProperties.CorrelationId, Encoding.UTF8.GetString((byte[])unknown.BasicProperties.Headers!["esb-fault"]!)),
            Is.EqualTo(("unknown", "SHOP-NOARTICLE"))
        );
    }

    [Test, Order(3)]
    public async Task Request_whose_answer_may_not_go_where_it_names_is_a_dead_letter(CancellationToken cancellationToken)
    {
        await PublishAsync(
            Prices,
            """{"sku":"A-1"}""",
            new BasicProperties
            {
                CorrelationId = "no",
                ReplyTo = Orders,
                ContentType = "application/json",
            }
        );

        await WaitForLetterAsync("ESB-AMQP-REPLYTO", cancellationToken);
        Assert.That(await _channel.MessageCountAsync(Europe, cancellationToken), Is.Zero);
    }

    [Test, Order(4)]
    public async Task Message_that_no_queue_takes_is_a_dead_letter_and_stops_nothing(CancellationToken cancellationToken)
    {
        await PublishAsync(Orders, "<lost/>", new BasicProperties { Headers = Region("nowhere") });
        await PublishAsync(Orders, "<order/>", new BasicProperties { Headers = Region("eu") });

        Assert.That(Encoding.UTF8.GetString((await GetAsync(Europe, cancellationToken)).Body.Span), Is.EqualTo("<order/>"));
        await WaitForLetterAsync("ESB-AMQP-UNROUTABLE", cancellationToken);
    }

    [Test, Order(5), Category("Thorough")]
    public async Task Nothing_is_lost_when_the_host_is_killed_and_what_comes_twice_has_the_same_id(CancellationToken cancellationToken)
    {
        const int count = 2_000;
        var sent = Enumerable.Range(0, count).Select(_ => Guid.NewGuid().ToString()).ToHashSet();
        foreach (var group in sent.Chunk(100))
            await Task.WhenAll(
                group.Select(id =>
                    PublishAsync(
                        Orders,
                        "<order/>",
                        new BasicProperties
                        {
                            MessageId = id,
                            Headers = Region("eu"),
                            Persistent = true,
                        }
                    )
                )
            );
        await _host.WaitAsync(
            async token => await _channel.MessageCountAsync(Europe, token) > 50,
            Limit,
            "to have begun",
            cancellationToken
        );

        _host.Kill();
        await _host.DisposeAsync();
        await StartHostAsync(cancellationToken);

        var received = new HashSet<string>();
        while (received.Count < count)
            received.Add((await GetAsync(Europe, cancellationToken)).BasicProperties.MessageId!);
        Assert.That(received, Is.EquivalentTo(sent));
    }

    private static Dictionary<string, object?> Region(string name) => new() { ["x-region"] = name };

    private async Task StartHostAsync(CancellationToken cancellationToken) =>
        _host = await RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq }
        );

    private async Task PublishAsync(string queue, string body, BasicProperties properties) =>
        await _channel.BasicPublishAsync("", queue, mandatory: true, properties, Encoding.UTF8.GetBytes(body));

    private async Task<BasicGetResult> GetAsync(string queue, CancellationToken cancellationToken)
    {
        BasicGetResult? result = null;
        await _host.WaitAsync(
            async token => (result = await _channel.BasicGetAsync(queue, autoAck: true, token)) is not null,
            Limit,
            $"to put a message into {queue}",
            cancellationToken
        );
        return result!;
    }

    private Task WaitForLetterAsync(string code, CancellationToken cancellationToken) =>
        _host.WaitAsync(
            async token =>
                (await _host.AskAsync("/api/dead-letters", token))
                    .GetProperty("items")
                    .EnumerateArray()
                    .Count(letter => letter.GetProperty("code").GetString() == code) == 1,
            Limit,
            $"to keep one dead letter with {code}",
            cancellationToken
        );
}
