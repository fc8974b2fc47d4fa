using Esb.Core.Endpoints;
using Esb.Core.Errors;

namespace Esb.Delivery.Attempts;

/// <summary>Decides on attempts: some at once, then one after each delay. Immutable.</summary>
internal sealed class RetryLadder(RetryConfig config)
{
    // Whatever the outside asks for, it is asked again after that time.
    private static readonly TimeSpan LongestPause = TimeSpan.FromHours(1);

    private static readonly NextAttempt Again = new NextAttempt.Now();
    private static readonly NextAttempt GiveUp = new NextAttempt.None();

    /// <summary>What follows the failed attempt of this number, counted from 1.</summary>
    public NextAttempt After(int attempt, EsbException failure)
    {
        if (!failure.IsTransient) return GiveUp;
        if (attempt <= config.Immediate && (failure.RetryAfter is null || config.Delays.Count == 0)) return Again;
        var rung = Math.Max(0, attempt - config.Immediate - 1);
        return rung < config.Delays.Count ? new NextAttempt.After(DelayOf(rung, failure.RetryAfter)) : GiveUp;
    }

    /// <summary>What follows where the sender waits for an answer: no delays.</summary>
    public NextAttempt AfterRequest(int attempt, EsbException failure) =>
        failure is { IsTransient: true, RetryAfter: null } && attempt <= config.Immediate ? Again : GiveUp;

    /// <summary>How long the whole endpoint pauses, because the outside asks for more than the last delay; null where it does not.</summary>
    public TimeSpan? PauseOf(EsbException failure)
    {
        if (failure.RetryAfter is not { } asked || asked <= config.Delays.DefaultIfEmpty().Max()) return null;
        return asked < LongestPause ? asked : LongestPause;
    }

    /// <summary>How long a message that was turned away during an outage lets others go before; null where there are no delays.</summary>
    public NextAttempt? AfterOutage(EsbException failure) => config.Delays.Count == 0 ? null : new NextAttempt.After(DelayOf(rung: 0, failure.RetryAfter));

    // The next rung up from what the outside asks for; where it asks for more than the last one, that one, while the endpoint pauses.
    private TimeSpan DelayOf(int rung, TimeSpan? asked) =>
        config.Delays.Skip(rung).Where(delay => delay >= (asked ?? TimeSpan.Zero)).DefaultIfEmpty(config.Delays.Max()).First();
}
