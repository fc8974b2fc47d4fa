using System.Text;
using System.Text.Json;
using Esb.Configuration;
using Esb.Core.Brokers;
using Esb.Core.Endpoints;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Brokers;
using Esb.Endpoints.MassTransit;
using Esb.Tests.Endpoints.Brokers;
using Esb.Tests.Endpoints.Contracts.Inbound;
using Esb.Tests.Endpoints.Files;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.MassTransit;

/// <summary>Raw JSON, which fills a body to its last byte; envelopes have tests of their own.</summary>
[TestFixture]
internal sealed class MassTransitInboundContract : InboundEndpointContract
{
    private FakeBroker _broker = null!;
    private KeptLetters _letters = null!;
    private ToldOverload _overload = null!;

    protected override bool Waits => true;

    protected override int AddedBytes => BodyOf("").Length;

    protected override IntakeHold IntakeHold { get; } = new("orders", TimeProvider.System);

    protected override int Asked => _overload.Asked;

    [SetUp]
    public void CreateBroker() =>
        (_broker, _letters, _overload) = (new FakeBroker(), new KeptLetters(), new ToldOverload(new LimitsConfig()));

    protected override string SentIn(string body) => JsonDocument.Parse(body).RootElement.GetProperty("text").GetString()!;

    protected override Task<IInboundEndpoint> CreateAsync()
    {
        var config = SomeEnvelopes.Inbound with { MaxConcurrentCalls = AtOnce };
        var admission = new Admission(_overload.Gate, AuditGate, Intake.NeedsTopics, new CallGate(AtOnce, TimeProvider.System), IntakeHold);
        var desk = new DeliveryDesk(
            config,
            new EnvelopeFormat(config, MaxBodyBytes, answers: null, TimeProvider.System),
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
        await _broker.SendAsync(
            new BrokerMessage
            {
                MessageId = id.ToString(),
                ContentType = Envelope.RawContentType,
                Body = Encoding.UTF8.GetBytes(BodyOf(body)),
            },
            cancellationToken
        );
        return _letters.All.Any(letter => letter.Message.Id == id) ? SenderVerdict.Refused : SenderVerdict.Accepted;
    }

    protected override void Overload(bool isOverloaded) => _overload.Memory = isOverloaded ? 90 : 10;

    private static string BodyOf(string text) => $$"""{"text":"{{text}}"}""";
}
