using Esb.Configuration;
using Esb.Core.Brokers;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Endpoints.Brokers;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.MassTransit;

/// <summary>The type <c>masstransit-inbound</c>.</summary>
internal sealed class MassTransitInboundType(IReadOnlyDictionary<string, EndpointConfig> endpoints, BusIdentity bus, LimitsConfig limits)
    : InboundEndpointType<MassTransitInboundConfig>
{
    protected override CreateInbound? Compile(MassTransitInboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        return (services, intake) => Create(settings, QueueOf(settings), limits.MaxBodySize.Bytes, services, intake);
    }

    private string QueueOf(MassTransitInboundConfig settings) => settings.Queue ?? $"esb-{bus.Name}-{settings.Name}";

    private void Check(MassTransitInboundConfig settings, ConfigErrors errors)
    {
        MassTransitChecks.Check(settings, settings.MessageType, settings.EntityNames, errors);
        if (settings.Relay is not null)
            errors.Add("ESB-CFG-VALUE", settings, "relay", "a message of a broker cannot be relayed: expected process or publish");
        if (settings.Queue is { } queue && !MassTransitNames.IsEntity(queue))
            errors.Add("ESB-CFG-VALUE", settings, "queue", MassTransitChecks.Entity);
        if (settings.Mode == ExchangePattern.RequestReply && settings.ReplyType is null && settings.IsSound("replyType"))
            errors.Add(
                "ESB-CFG-REQUIRED",
                settings,
                "replyType",
                "the answers of mode request-reply need a message type, such as \"Shop.Contracts:Price\""
            );
        if (settings.Mode == ExchangePattern.OneWay && settings.ReplyType is not null)
            errors.Add("ESB-CFG-VALUE", settings, "replyType", "nothing is answered in mode one-way: expected mode request-reply");
        if (settings.Prefetch < settings.MaxConcurrentCalls)
            errors.Add("ESB-CFG-RANGE", settings, "prefetch", $"expected at least maxConcurrentCalls, {settings.MaxConcurrentCalls}");
        var same = endpoints
            .Values.OfType<MassTransitInboundConfig>()
            .FirstOrDefault(other =>
                other != settings && other.Enabled && other.Url == settings.Url && QueueOf(other) == QueueOf(settings)
            );
        if (same is not null && string.CompareOrdinal(same.Name, settings.Name) < 0)
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "queue",
                $"{same.Name} reads the queue '{QueueOf(settings)}' too, and each would get a part of its messages: expected another one"
            );
    }

    private static BrokerInboundEndpoint Create(
        MassTransitInboundConfig settings,
        string queue,
        long maxBodyBytes,
        IServiceProvider services,
        IMessageIntake intake
    )
    {
        var topology = new InboundTopology(
            settings,
            queue,
            services.GetRequiredService<IEndpointMarks>(),
            services.GetRequiredService<ILogger<InboundTopology>>()
        );
        return new BrokerInbound(settings, settings, services, intake).Create(
            FormatOf,
            settings.PrefetchInUse,
            settings.MaxConcurrentCalls,
            topology.FindAsync
        );

        EnvelopeFormat FormatOf(IBrokers brokers, AnswerSender? answers, TimeProvider time)
        {
            if (answers is null)
                return new EnvelopeFormat(settings, maxBodyBytes, answers: null, time);
            var context = new AnswerContext(settings, answers, brokers.IsOurs, queue, maxBodyBytes, time);
            return new EnvelopeFormat(settings, maxBodyBytes, (envelope, message) => new AnswerWay(context, envelope, message), time);
        }
    }
}
