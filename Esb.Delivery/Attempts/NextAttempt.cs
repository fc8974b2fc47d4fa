namespace Esb.Delivery.Attempts;

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
