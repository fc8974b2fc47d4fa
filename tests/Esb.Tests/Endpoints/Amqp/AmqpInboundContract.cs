using System.Text;
using Esb.Configuration;
using Esb.Core.Brokers;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Amqp;
using Esb.Endpoints.Brokers;
using Esb.Tests.Endpoints.Brokers;
using Esb.Tests.Endpoints.Contracts.Inbound;
using Esb.Tests.Endpoints.Files;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Amqp;

[TestFixture]
internal sealed class AmqpInboundContract : InboundEndpointContract
{
    private FakeBroker _broker = null!;
    private KeptLetters _letters = null!;
    private ToldOverload _overload = null!;

    protected override bool Waits => true;

    protected override IntakeHold IntakeHold { get; } = new("orders", TimeProvider.System);

    protected override int Asked => _overload.Asked;

    [SetUp]
    public void CreateBroker() =>
        (_broker, _letters, _overload) = (new FakeBroker(), new KeptLetters(), new ToldOverload(new LimitsConfig()));

    protected override Task<IInboundEndpoint> CreateAsync()
    {
        var config = new AmqpInboundConfig
        {
            Name = "orders",
            Queue = "orders",
            MaxConcurrentCalls = AtOnce,
        };
        var admission = new Admission(_overload.Gate, AuditGate, Intake.NeedsTopics, new CallGate(AtOnce, TimeProvider.System), IntakeHold);
        var format = new AmqpFormat(config, MaxBodyBytes, _broker.IsOurs, TimeProvider.System);
        var desk = new DeliveryDesk(
            config,
            format,
            Intake,
            answers: null,
            admission,
            _letters,
            TimeProvider.System,
            NullLogger<DeliveryDesk>.Instance
        );
        return Task.FromResult<IInboundEndpoint>(
            new BrokerInboundEndpoint(
                desk,
                answers: null,
                (handler, _) =>
                    ValueTask.FromResult(
                        _broker.CreateReader(
                            config,
                            new BrokerReading("orders", BrokerLayout.Empty, 32, AtOnce, handler.HandleAsync)
                            {
                                WaitForOpening = handler.WaitForOpeningAsync,
                            }
                        )
                    )
            )
        );
    }

    protected override async Task<SenderVerdict> SendAsync(string body, CancellationToken cancellationToken)
    {
        var id = Guid.NewGuid();
        await _broker.SendAsync(new BrokerMessage { MessageId = id.ToString(), Body = Encoding.UTF8.GetBytes(body) }, cancellationToken);
        return _letters.All.Any(letter => letter.Message.Id == id) ? SenderVerdict.Refused : SenderVerdict.Accepted;
    }

    protected override void Overload(bool isOverloaded) => _overload.Memory = isOverloaded ? 90 : 10;

    [Test]
    public async Task Refused_message_waits_in_its_queue_while_it_cannot_be_kept(CancellationToken cancellationToken)
    {
        _letters.IsAway = true;
        await using var endpoint = await CreateAsync();
        await endpoint.StartAsync(cancellationToken);

        var sending = SendAsync(new string('x', MaxBodyBytes + 1), cancellationToken);
        await Fakes.Eventually.HoldsAsync(() => Intake.Refusals.Count > 1, "it is tried again", cancellationToken);
        var before = sending.IsCompleted;
        _letters.IsAway = false;

        Assert.That((before, await sending), Is.EqualTo((false, SenderVerdict.Refused)));
    }
}
