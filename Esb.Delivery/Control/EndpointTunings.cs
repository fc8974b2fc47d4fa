using Esb.Configuration.Rules;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Topics;

namespace Esb.Delivery.Control;

/// <summary>The tunable settings of an endpoint as complete values, and the check of changes against its configuration.</summary>
internal static class EndpointTunings
{
    private const int MostAtOnce = 1000;
    private const int MostPrefetch = 10_000;
    private const int MostRate = 100_000;

    /// <summary>The configured values.</summary>
    public static EndpointTuning Of(OutboundEndpointConfig config) =>
        new()
        {
            PoolSize = config.PoolSize,
            ProcessingThreads = config.ProcessingThreads,
            Prefetch = config.Prefetch ?? Subscription.DefaultPrefetch(config.PoolSize, config.ProcessingThreads),
            Paused = config.Paused,
            Retry = TuningValues.Of(config.Retry),
            CircuitBreaker = TuningValues.Of(config.CircuitBreaker),
            Rate = config.Rate ?? 0,
            Audit = config.Audit?.Bodies,
        };

    /// <summary>The configured values of an inbound endpoint.</summary>
    public static EndpointTuning Of(InboundEndpointConfig config) => new() { Paused = false, Audit = config.Audit?.Bodies };

    /// <summary>The effective values after a change.</summary>
    public static EndpointTuning Change(OutboundEndpointConfig config, EndpointTuning current, EndpointTuning change)
    {
        var (poolSize, threads) = (
            change.PoolSize ?? current.PoolSize!.Value,
            change.ProcessingThreads ?? current.ProcessingThreads!.Value
        );
        var followed =
            config.Prefetch is null
            && current.Prefetch == Subscription.DefaultPrefetch(current.PoolSize!.Value, current.ProcessingThreads!.Value);
        return new EndpointTuning
        {
            PoolSize = poolSize,
            ProcessingThreads = threads,
            Prefetch = change.Prefetch ?? (followed ? Subscription.DefaultPrefetch(poolSize, threads) : current.Prefetch),
            Paused = change.Paused ?? current.Paused,
            Retry = change.Retry is { } retry ? TuningValues.Of(TuningValues.ConfigOf(retry)) : current.Retry,
            CircuitBreaker = change.CircuitBreaker is { } breaker
                ? TuningValues.Of(TuningValues.ConfigOf(breaker))
                : current.CircuitBreaker,
            Rate = change.Rate ?? current.Rate,
            Audit = change.Audit ?? current.Audit,
        };
    }

    /// <summary>The tuned settings after a change; a setting that has its configured value is not tuned.</summary>
    public static EndpointTuning Merge(EndpointTuning configured, EndpointTuning tuned, EndpointTuning change)
    {
        var merged = TuningValues.Of(tuned);
        foreach (var (setting, value) in TuningValues.Of(change))
            merged[setting] = value;
        var asConfigured = TuningValues.Of(configured);
        return TuningValues.Read(merged.Where(one => asConfigured.GetValueOrDefault(one.Key) != one.Value));
    }

    /// <summary>The tuned settings that apply: all, or only the pause if the configuration forbids the others.</summary>
    public static EndpointTuning Applicable(OutboundEndpointConfig config, EndpointTuning tuned) =>
        Check(config, tuned).Count == 0 ? tuned : new EndpointTuning { Paused = config.HasQueue ? tuned.Paused : null };

    /// <summary>The configuration with the tuned settings by which messages are delivered.</summary>
    public static OutboundEndpointConfig Over(OutboundEndpointConfig config, EndpointTuning tuned) =>
        config with
        {
            Retry = tuned.Retry is { } retry ? TuningValues.ConfigOf(retry) : config.Retry,
            CircuitBreaker = tuned.CircuitBreaker is { } breaker ? TuningValues.ConfigOf(breaker) : config.CircuitBreaker,
        };

    /// <summary>The errors of a change, one sentence for each invalid setting.</summary>
    public static IReadOnlyList<string> Check(OutboundEndpointConfig config, EndpointTuning change)
    {
        var errors = new List<string>();
        CheckRange("poolSize", change.PoolSize, 1, MostAtOnce);
        CheckRange("processingThreads", change.ProcessingThreads, 1, MostAtOnce);
        CheckRange("prefetch", change.Prefetch, 1, MostPrefetch);
        CheckRange("rate", change.Rate, 0, MostRate);
        if (config.Delivery == DeliveryMode.Ordered)
        {
            CheckSecond("poolSize", change.PoolSize);
            CheckSecond("processingThreads", change.ProcessingThreads);
        }

        if (change.Paused == true && !config.HasQueue)
            errors.Add("paused = true: expected an endpoint that subscribes to something: calls and relays have no queue to wait in");
        CheckRetry(config, change.Retry, errors);
        CheckBreaker(change.CircuitBreaker, errors);
        return errors;

        void CheckRange(string name, int? value, int least, int most)
        {
            if (value < least || value > most)
                errors.Add($"{name} = {value}: expected {least}..{most}");
        }

        void CheckSecond(string name, int? value)
        {
            if (value is > 1 and <= MostAtOnce)
                errors.Add($"{name} = {value}: expected 1, because of delivery \"ordered\": two at once would overtake each other");
        }
    }

    private static void CheckRetry(OutboundEndpointConfig config, RetryTuning? retry, List<string> errors)
    {
        if (retry is null)
            return;
        var before = errors.Count;
        if (retry.Immediate is < 0 or > 10)
            errors.Add($"retry.immediate = {retry.Immediate}: expected 0..10");
        foreach (var delay in retry.Delays ?? [])
        {
            if (!Duration.TryParse(delay, out var span) || span < TimeSpan.FromMilliseconds(10) || span > TimeSpan.FromHours(24))
                errors.Add($"retry.delays = \"{Clipped.Name(delay)}\": expected durations such as \"10s\", 10ms..24h");
        }

        if (errors.Count == before && DeliveryHold.FaultOf(config with { Retry = TuningValues.ConfigOf(retry) }) is { } fault)
            errors.Add($"retry: {fault}");
    }

    private static void CheckBreaker(CircuitBreakerTuning? breaker, List<string> errors)
    {
        if (breaker is null)
            return;
        if (breaker.Failures is < 2 or > 1000)
            errors.Add($"circuitBreaker.failures = {breaker.Failures}: expected 2..1000");
        if (
            breaker.Probe is { } probe
            && (!Duration.TryParse(probe, out var span) || span < TimeSpan.FromSeconds(1) || span > TimeSpan.FromHours(1))
        )
            errors.Add($"circuitBreaker.probe = \"{Clipped.Name(probe)}\": expected a duration such as \"30s\", 1s..1h");
    }
}
