using Esb.Configuration;
using Esb.Core.Brokers;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.MassTransit;

/// <summary>The type <c>masstransit-outbound</c>.</summary>
internal sealed class MassTransitOutboundType(BusIdentity bus, LimitsConfig limits) : OutboundEndpointType<MassTransitOutboundConfig>
{
    protected override CreateOutbound? Compile(MassTransitOutboundConfig settings, ConfigErrors errors)
    {
        MassTransitChecks.Check(settings, settings.MessageType, settings.EntityNames, errors);
        if (settings.Send is not null && SendTarget.Parse(settings.Send) is null)
            errors.Add("ESB-CFG-VALUE", settings, "send", "expected queue:NAME or exchange:NAME, such as \"queue:submit-order\"");
        if (settings.ReplyType is not null && settings.Mandatory == false)
            errors.Add("ESB-CFG-VALUE", settings, "mandatory", "a request that no queue takes has no answer: expected true");
        return services => Create(settings, $"esb-{bus.Name}-{settings.Name}", limits.MaxBodySize.Bytes, services);
    }

    private static MassTransitOutboundAdapter Create(
        MassTransitOutboundConfig settings,
        string source,
        long maxBodyBytes,
        IServiceProvider services
    )
    {
        var (brokers, time) = (services.GetRequiredService<IBrokers>(), services.GetRequiredService<TimeProvider>());
        var target = OutboundTarget.Of(settings);
        var publisher = brokers.CreatePublisher(settings, settings.Name, target.Layout);
        var replies = settings.ReplyType is null ? null : new RequestReplies(settings, $"{source}-replies-{Guid.NewGuid():N}", brokers);
        var writer = new OutboundWriter(
            settings,
            target,
            source,
            replies is null ? null : replies.Address,
            publisher.Place,
            maxBodyBytes,
            time
        );
        return new MassTransitOutboundAdapter(
            settings,
            writer,
            publisher,
            replies,
            time,
            services.GetRequiredService<ILogger<MassTransitOutboundEndpoint>>()
        );
    }
}

/// <summary>State shared by the instances of one masstransit-outbound endpoint: its connections. Thread-safe.</summary>
internal sealed class MassTransitOutboundAdapter(
    MassTransitOutboundConfig config,
    OutboundWriter writer,
    IBrokerPublisher publisher,
    RequestReplies? replies,
    TimeProvider time,
    ILogger<MassTransitOutboundEndpoint> logger
) : IOutboundAdapter
{
    public IOutboundEndpoint CreateInstance() => new MassTransitOutboundEndpoint(config, writer, publisher, replies, time, logger);

    public async ValueTask DisposeAsync()
    {
        if (replies is not null)
            await replies.DisposeAsync();
        await publisher.DisposeAsync();
    }
}
