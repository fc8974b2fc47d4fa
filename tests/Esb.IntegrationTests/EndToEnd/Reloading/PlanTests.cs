using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.EndToEnd.Reloading;

/// <summary><c>esb plan</c> before, between and after a change of <c>delivery</c>.</summary>
public sealed class PlanTests
{
    private DirectoryInfo _folder = null!;
    private TestBroker _broker = null!;

    [SetUp]
    public void Prepare()
    {
        _folder = Directory.CreateTempSubdirectory("esb-plan-");
        _broker = new TestBroker();
    }

    [TearDown]
    public async Task CleanUp()
    {
        _folder.Delete(recursive: true);
        await _broker.CleanUpAsync();
    }

    [Test, Category("Thorough"), CancelAfter(90_000)]
    public async Task Plan_shows_a_change_of_delivery_and_makes_it_when_asked(CancellationToken cancellationToken)
    {
        var subscription = new Subscription(
            "out",
            [SubjectPattern.Parse("orders.#")!],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            [TimeSpan.FromSeconds(1)]
        );
        _broker.Note(subscription);
        var fresh = await RunAsync("parallel", cancellationToken);
        await using (var transport = _broker.CreateTransport(new Dictionary<string, TopicConfig> { ["orders"] = new() }))
        {
            await transport.StartAsync(cancellationToken);
            await (await transport.SubscribeAsync(subscription, new Inbox().HandleAsync, cancellationToken)).DisposeAsync();
            await transport.PublishAsync(
                EsbMessage.Create(MessageBody.FromText("<order/>"), TimeProvider.System) with
                {
                    Subject = "orders.new",
                },
                cancellationToken
            );
        }

        var kept = await RunAsync("parallel", cancellationToken);
        var drifted = await RunAsync("ordered", cancellationToken);
        var applied = await RunAsync("ordered", cancellationToken, "--apply");
        var after = await RunAsync("ordered", cancellationToken);

        Assert.That(
            (fresh.ExitCode, kept.ExitCode, drifted.ExitCode, applied.ExitCode, after.ExitCode),
            Is.EqualTo((0, 0, 0, 0, 0)),
            applied.Output
        );
        Assert.That(fresh.Output, Does.Contain($"create  queue {_broker.Prefix}.endpoints.tests.out"));
        Assert.That(kept.Output, Does.Contain("1 messages wait, 0 consumers"));
        Assert.That(
            drifted.Output,
            Does.Contain("migrate  endpoint out")
                .And.Contains("delivery is parallel there, ordered here; 1 messages wait")
                .And.Contains("--apply")
        );
        Assert.That(applied.Output, Does.Contain("out: 1 messages put into the new queues"));
        Assert.That(after.Output, Does.Contain("1 messages wait, 0 consumers").And.Not.Contains("migrate"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Plan_ends_with_5_when_the_broker_cannot_be_reached(CancellationToken cancellationToken)
    {
        var (exitCode, output) = await RunAsync("parallel", cancellationToken, url: "amqp://127.0.0.1:1");

        Assert.That(exitCode, Is.EqualTo(5), output);
        Assert.That(output, Does.Contain("ESB-TOPIC-UNAVAILABLE"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Plan_ends_with_5_when_the_broker_refuses_to_answer(CancellationToken cancellationToken)
    {
        await using var stranger = await _broker.ConnectAsync();
        await using var channel = await stranger.CreateChannelAsync(cancellationToken: cancellationToken);
        await channel.QueueDeclareAsync(
            _broker.Names.Endpoint("out"),
            durable: false,
            exclusive: true,
            autoDelete: true,
            cancellationToken: cancellationToken
        ); // nobody else may look at it

        var (exitCode, output) = await RunAsync("parallel", cancellationToken);

        Assert.That(exitCode, Is.EqualTo(5), output);
        Assert.That(output, Does.StartWith("ESB-TOPIC-UNAVAILABLE").And.Not.Contain("Exception"));
    }

    private async Task<(int ExitCode, string Output)> RunAsync(
        string delivery,
        CancellationToken cancellationToken,
        string? option = null,
        string? url = null
    )
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(
            file,
            $$"""
            {
              "name": "tests",
              "transport": { "type": "rabbitmq", "url": "{{url ?? "${env:ESB_TEST_RABBITMQ}"}}", "prefix": "{{_broker.Prefix}}" },
              "topics": { "orders": {} },
              "endpoints": { "out": { "type": "file-outbound", "subscribe": ["orders.#"], "delivery": "{{delivery}}", "folder": "out", "fileName": "{message.id}.xml" } }
            }
            """
        );
        string[] arguments = option is null ? ["plan", file] : ["plan", file, option];
        var (exitCode, output, error) = await CommandLine.RunAsync(_folder.FullName, cancellationToken, arguments);
        return (exitCode, output + error);
    }
}
