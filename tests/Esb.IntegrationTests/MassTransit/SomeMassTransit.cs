using System.Text;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Brokers;
using Esb.Endpoints.MassTransit;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.MassTransit;

/// <summary>Builds endpoints of MassTransit on a real broker for tests.</summary>
internal static class SomeMassTransit
{
    public const int MaxBodyBytes = 64 * 1024;

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
        var topology = new InboundTopology(config, config.Queue!, new KeptMarks(), NullLogger<InboundTopology>.Instance);
        return SomeBrokers.Inbound(
            config,
            new EnvelopeFormat(config, MaxBodyBytes, answers: null, TimeProvider.System),
            config.PrefetchInUse,
            config.MaxConcurrentCalls,
            topology.FindAsync,
            intake,
            letters,
            audit,
            overload,
            hold
        );
    }

    public static MassTransitOutboundAdapter Outbound(MassTransitOutboundConfig config)
    {
        var target = OutboundTarget.Of(config);
        var publisher = SomeBrokers.All.CreatePublisher(config, config.Name, target.Layout);
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
