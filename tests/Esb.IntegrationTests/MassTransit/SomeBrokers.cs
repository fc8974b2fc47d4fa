using Esb.Core.Audit;
using Esb.Core.Brokers;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Brokers;
using Esb.Tests.Endpoints.Brokers;
using Esb.Topics.Memory;
using Esb.Topics.RabbitMq.Endpoints;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.MassTransit;

/// <summary>Builds endpoints that read a queue of a real broker, for tests.</summary>
internal static class SomeBrokers
{
    public static EndpointBrokers All { get; } =
        new(new MemoryTransportConfig(), new BusIdentity("tests"), TimeProvider.System, NullLoggerFactory.Instance);

    public static BrokerInboundEndpoint Inbound<TConfig>(
        TConfig config,
        IDeliveryFormat format,
        int prefetch,
        int concurrency,
        Func<CancellationToken, Task<BrokerLayout>> findLayout,
        IMessageIntake intake,
        IDeadLetterChannel? letters = null,
        IAuditGate? audit = null,
        OverloadGate? overload = null,
        IntakeHold? hold = null
    )
        where TConfig : InboundEndpointConfig, IBrokerSettings
    {
        var admission = new Admission(overload, audit, intake.NeedsTopics, new CallGate(concurrency, TimeProvider.System), hold);
        var desk = new DeliveryDesk(
            config,
            format,
            intake,
            answers: null,
            admission,
            letters ?? new KeptLetters(),
            TimeProvider.System,
            NullLogger<DeliveryDesk>.Instance
        );
        return new BrokerInboundEndpoint(
            desk,
            answers: null,
            async (handler, token) =>
                All.CreateReader(
                    config,
                    new BrokerReading(config.Name, await findLayout(token), prefetch, concurrency, handler.HandleAsync)
                    {
                        WaitForOpening = handler.WaitForOpeningAsync,
                    }
                )
        );
    }
}
