using Esb.Core.Endpoints;
using Esb.Core.Topics;

namespace Esb.Delivery.Control;

/// <summary>The tunable settings of an endpoint as complete values, and the check of changes against its delivery mode.</summary>
internal static class EndpointTunings
{
    private const int MostAtOnce = 1000;
    private const int MostPrefetch = 10_000;

    /// <summary>The configured values.</summary>
    public static EndpointTuning Of(OutboundEndpointConfig config) => new()
    {
        PoolSize = config.PoolSize,
        ProcessingThreads = config.ProcessingThreads,
        Prefetch = config.Prefetch ?? Subscription.DefaultPrefetch(config.PoolSize, config.ProcessingThreads),
        Paused = false,
    };

    /// <summary>The effective values after a change.</summary>
    public static EndpointTuning Change(OutboundEndpointConfig config, EndpointTuning current, EndpointTuning change)
    {
        var (poolSize, threads) = (change.PoolSize ?? current.PoolSize!.Value, change.ProcessingThreads ?? current.ProcessingThreads!.Value);
        var followed = config.Prefetch is null && current.Prefetch == Subscription.DefaultPrefetch(current.PoolSize!.Value, current.ProcessingThreads!.Value);
        return new EndpointTuning
        {
            PoolSize = poolSize,
            ProcessingThreads = threads,
            Prefetch = change.Prefetch ?? (followed ? Subscription.DefaultPrefetch(poolSize, threads) : current.Prefetch),
            Paused = change.Paused ?? current.Paused,
        };
    }

    /// <summary>The values that an operator changed; null for a value that is as configured.</summary>
    public static EndpointTuning Difference(EndpointTuning configured, EndpointTuning current) => new()
    {
        PoolSize = current.PoolSize == configured.PoolSize ? null : current.PoolSize,
        ProcessingThreads = current.ProcessingThreads == configured.ProcessingThreads ? null : current.ProcessingThreads,
        Prefetch = current.Prefetch == configured.Prefetch ? null : current.Prefetch,
        Paused = current.Paused,
    };

    /// <summary>The effective values under new settings: an operator's changes apply on top, unless the settings forbid them.</summary>
    public static EndpointTuning KeepTuned(OutboundEndpointConfig config, EndpointTuning configured, EndpointTuning tuned) =>
        Change(config, configured, Check(config, tuned).Count == 0 ? tuned : new EndpointTuning { Paused = config.Subscribe.Count > 0 ? tuned.Paused : false });

    /// <summary>The errors of a change, one sentence for each invalid setting.</summary>
    public static IReadOnlyList<string> Check(OutboundEndpointConfig config, EndpointTuning change)
    {
        var errors = new List<string>();
        CheckRange("poolSize", change.PoolSize, MostAtOnce);
        CheckRange("processingThreads", change.ProcessingThreads, MostAtOnce);
        CheckRange("prefetch", change.Prefetch, MostPrefetch);
        if (config.Delivery == DeliveryMode.Ordered)
        {
            CheckSecond("poolSize", change.PoolSize);
            CheckSecond("processingThreads", change.ProcessingThreads);
        }

        if (change.Paused == true && config.Subscribe.Count == 0) errors.Add("paused = true: expected an endpoint that subscribes to something: calls and relays have no queue to wait in");
        return errors;

        void CheckRange(string name, int? value, int most)
        {
            if (value < 1 || value > most) errors.Add($"{name} = {value}: expected 1..{most}");
        }

        void CheckSecond(string name, int? value)
        {
            if (value is > 1 and <= MostAtOnce) errors.Add($"{name} = {value}: expected 1, because of delivery \"ordered\": two at once would overtake each other");
        }
    }
}
