using System.Text;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Brokers;
using Esb.Endpoints.MassTransit;
using Esb.Tests.Endpoints.Brokers;
using Esb.Tests.Fakes;
using Esb.Topics.Memory;
using Esb.Topics.RabbitMq.Endpoints;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.MassTransit;

/// <summary>Builds endpoints of MassTransit on a real broker for tests.</summary>
internal static class SomeMassTransit
{
    public const int MaxBodyBytes = 64 * 1024;

    private static readonly EndpointBrokers Brokers = new(
        new MemoryTransportConfig(),
        new BusIdentity("tests"),
        TimeProvider.System,
        NullLoggerFactory.Instance
    );

    public static MassTransitInboundConfig InboundConfig(string broker, string type, string queue) =>
        new()
        {
            Name = "orders",
            Path = "endpoints.orders",
            Url = broker,
            MessageType = [MessageTypeName.Parse(type)!],
            Queue = queue,
        };

    public static MassTransitOutboundConfig OutboundConfig(string broker, string type) =>
        new()
        {
            Name = "packed",
            Path = "endpoints.packed",
            Url = broker,
            MessageType = [MessageTypeName.Parse(type)!],
        };

    public static BrokerInboundEndpoint Inbound(
        MassTransitInboundConfig config,
        IMessageIntake intake,
        IDeadLetterChannel? letters = null,
        IAuditGate? audit = null,
        OverloadGate? overload = null,
        IntakeHold? hold = null
    )
    {
        var admission = new Admission(
            overload,
            audit,
            intake.NeedsTopics,
            new CallGate(config.MaxConcurrentCalls, TimeProvider.System),
            hold
        );
        var desk = new DeliveryDesk(
            config,
            new EnvelopeFormat(config, MaxBodyBytes, answers: null, TimeProvider.System),
            intake,
            answers: null,
            admission,
            letters ?? new KeptLetters(),
            TimeProvider.System,
            NullLogger<DeliveryDesk>.Instance
        );
        var topology = new InboundTopology(config, config.Queue!, new KeptMarks(), NullLogger<InboundTopology>.Instance);
        return new BrokerInboundEndpoint(
            desk,
            answers: null,
            async (handler, token) =>
                Brokers.CreateReader(
                    config,
                    new(config.Name, await topology.FindAsync(token), config.PrefetchInUse, config.MaxConcurrentCalls, handler.HandleAsync)
                    {
                        WaitForOpening = handler.WaitForOpeningAsync,
                    }
                )
        );
    }

    public static MassTransitOutboundAdapter Outbound(MassTransitOutboundConfig config)
    {
        var target = OutboundTarget.Of(config);
        var publisher = Brokers.CreatePublisher(config, config.Name, target.Layout);
        return new MassTransitOutboundAdapter(
            config,
            new OutboundWriter(config, target, "esb-tests-packed", replyAddress: null, publisher.Place, MaxBodyBytes, TimeProvider.System),
            publisher,
            replies: null,
            TimeProvider.System,
            NullLogger<MassTransitOutboundEndpoint>.Instance
        );
    }

    /// <summary>An envelope as MassTransit writes it.</summary>
    public static byte[] Envelope(string type, string message, Guid? id = null) =>
        Encoding.UTF8.GetBytes(
            $$"""{ "messageId": "{{id ?? Guid.NewGuid()}}", "messageType": ["urn:message:{{type}}"], "message": {{message}}, "headers": {} }"""
        );
}
