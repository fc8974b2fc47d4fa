using Esb.Core.Endpoints;
using Esb.Core.Errors;

namespace Esb.Delivery.Attempts;

/// <summary>The retry schedule: immediate attempts first, then one after each delay. Immutable.</summary>
internal sealed class RetryLadder(RetryConfig config)
{
    // Upper bound for the pause that an external system requests.
    private static readonly TimeSpan LongestPause = TimeSpan.FromHours(1);

    private static readonly NextAttempt Again = new NextAttempt.Now();
    private static readonly NextAttempt GiveUp = new NextAttempt.None();

    /// <summary>The longest delay; zero without delays.</summary>
    public TimeSpan Longest { get; } = config.Delays.DefaultIfEmpty().Max();

    /// <summary>The action after the failed attempt of this number, counted from 1.</summary>
    public NextAttempt After(int attempt, EsbException failure)
    {
        if (!failure.IsTransient)
            return GiveUp;
        if (attempt <= config.Immediate && (failure.RetryAfter is null || config.Delays.Count == 0))
            return Again;
        var rung = Math.Max(0, attempt - config.Immediate - 1);
        return rung < config.Delays.Count ? new NextAttempt.After(DelayOf(rung, failure.RetryAfter)) : GiveUp;
    }

    /// <summary>The action after a failed request. A caller waits for the reply, so there are no delays.</summary>
    public NextAttempt AfterRequest(int attempt, EsbException failure) =>
        failure is { IsTransient: true, RetryAfter: null } && attempt <= config.Immediate ? Again : GiveUp;

    /// <summary>The pause of the whole endpoint if the external system requests more than the last delay; otherwise null.</summary>
    public TimeSpan? PauseOf(EsbException failure)
    {
        if (failure.RetryAfter is not { } asked || asked <= Longest)
            return null;
        return asked < LongestPause ? asked : LongestPause;
    }

    /// <summary>The delay of a message that was rejected during an outage, so that others are tried first; null without delays.</summary>
    public NextAttempt? AfterOutage(EsbException failure) =>
        config.Delays.Count == 0 ? null : new NextAttempt.After(DelayOf(rung: 0, failure.RetryAfter));

    // The first configured delay, from this rung on, that covers the requested one; otherwise the longest, while the endpoint pauses.
    private TimeSpan DelayOf(int rung, TimeSpan? asked) =>
        config.Delays.Skip(rung).Where(delay => delay >= (asked ?? TimeSpan.Zero)).DefaultIfEmpty(Longest).First();
}
