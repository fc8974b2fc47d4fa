using Esb.Core.Endpoints;
using Esb.Core.Errors;

namespace Esb.Endpoints.Delivery;

/// <summary>What to do after an attempt failed.</summary>
internal abstract record NextAttempt
{
    private NextAttempt()
    {
    }

    /// <summary>Try again at once.</summary>
    public sealed record Now : NextAttempt;

    /// <summary>Try again after a delay.</summary>
    public sealed record After(TimeSpan Delay) : NextAttempt;

    /// <summary>No attempt is left, or none could help.</summary>
    public sealed record None : NextAttempt;
}

/// <summary>Decides on attempts: some at once, then one after each delay. Immutable.</summary>
internal sealed class RetryLadder(RetryConfig config)
{
    private static readonly NextAttempt Again = new NextAttempt.Now();
    private static readonly NextAttempt GiveUp = new NextAttempt.None();

    /// <summary>What follows the failed attempt of this number, counted from 1.</summary>
    public NextAttempt After(int attempt, EsbException failure)
    {
        if (!failure.IsTransient) return GiveUp;
        if (attempt <= config.Immediate && failure.RetryAfter is null) return Again;
        var rung = Math.Max(0, attempt - config.Immediate - 1);
        return rung < config.Delays.Count ? new NextAttempt.After(DelayOf(rung, failure.RetryAfter)) : GiveUp;
    }

    /// <summary>What follows where the sender waits for an answer: no delays.</summary>
    public NextAttempt AfterRequest(int attempt, EsbException failure) =>
        failure.IsTransient && attempt <= config.Immediate ? Again : GiveUp;

    // The next rung up from what the outside asks for; where it asks for more than the last one, that one.
    private TimeSpan DelayOf(int rung, TimeSpan? asked) =>
        config.Delays.Skip(rung).Where(delay => delay >= (asked ?? TimeSpan.Zero)).DefaultIfEmpty(config.Delays.Max()).First();
}
