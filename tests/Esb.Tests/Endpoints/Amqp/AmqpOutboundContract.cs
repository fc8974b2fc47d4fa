using Esb.Core.Brokers;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Endpoints.Amqp;
using Esb.Tests.Endpoints.Brokers;
using Esb.Tests.Endpoints.Contracts;

namespace Esb.Tests.Endpoints.Amqp;

[TestFixture]
internal sealed class AmqpOutboundContract : OutboundEndpointContract
{
    private static readonly AmqpOutboundConfig Config = new()
    {
        Name = "out",
        Exchange = "orders",
        RoutingKey = "{header.x-key}",
    };

    private FakePublisher _publisher = null!;

    [SetUp]
    public void CreatePublisher() => _publisher = new FakePublisher();

    [TearDown]
    public async Task DisposePublisher() => await _publisher.DisposeAsync();

    protected override IOutboundAdapter Create() => Create(_publisher);

    protected override IOutboundAdapter CreateAway() =>
        Create(new FakePublisher { Answer = _ => new BrokerResult(PublishOutcome.Refused, "broker away") { IsOutage = true } });

    protected override Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<string>>([.. _publisher.Published.Select(message => MessageBody.FromBytes(message.Body).ReadText())]);

    [Test, CancelAfter(30_000)]
    public async Task Message_is_persistent_and_has_its_key_its_id_and_the_admitted_headers(CancellationToken cancellationToken)
    {
        var message = Some.Message("<order/>", contentType: "application/xml") with
        {
            Headers = MessageHeaders.Empty.With("x-key", "eu").With("authorization", "secret"),
            CorrelationId = "C-1",
        };

        await Create().CreateInstance().SendAsync(message, cancellationToken);

        var sent = _publisher.Published.Single();
        Assert.That(
            (sent.Exchange, sent.RoutingKey, sent.MessageId, sent.CorrelationId, sent.ContentType, sent.IsPersistent, sent.IsMandatory),
            Is.EqualTo(("orders", "eu", message.Id.ToString(), "C-1", "application/xml", true, true))
        );
        Assert.That((sent.Header("x-key"), sent.Header("authorization")), Is.EqualTo(("eu", (string?)null)));
    }

    [TestCase(PublishOutcome.Unknown, "ESB-AMQP-UNKNOWN")]
    [TestCase(PublishOutcome.Refused, "ESB-AMQP-REFUSED")]
    public void Publish_that_is_not_confirmed_is_tried_again(PublishOutcome outcome, string code)
    {
        _publisher.Answer = _ => new BrokerResult(outcome, "a reason");

        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await Create().CreateInstance().SendAsync(Some.Message(), CancellationToken.None)
        )!;

        Assert.That((failure.Code, failure.IsTransient, failure.Detail), Is.EqualTo((code, true, "a reason")));
    }

    [Test]
    public void Message_that_no_queue_takes_is_a_failure()
    {
        _publisher.Answer = _ => BrokerResult.Unroutable;

        Assert.That(
            Assert
                .ThrowsAsync<EndpointException>(async () =>
                    await Create().CreateInstance().SendAsync(Some.Message(), CancellationToken.None)
                )!
                .Code,
            Is.EqualTo("ESB-AMQP-UNROUTABLE")
        );
    }

    private static AmqpOutboundAdapter Create(FakePublisher publisher) =>
        new(Config, new KeyHeader(), publisher, maxBodyBytes: 64 * 1024, TimeProvider.System);

    private sealed class KeyHeader : IMessageValue
    {
        public bool ReadsBody => false;

        public object? Evaluate(MessageContext context) => context.Message.Headers["x-key"];
    }
}
