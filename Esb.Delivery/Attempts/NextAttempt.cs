namespace Esb.Delivery.Attempts;

/// <summary>The action after a failed attempt.</summary>
internal abstract record NextAttempt
{
    private NextAttempt() { }

    /// <summary>Retry immediately.</summary>
    public sealed record Now : NextAttempt;

    /// <summary>Retry after a delay.</summary>
    public sealed record After(TimeSpan Delay) : NextAttempt;

    /// <summary>No retry: no attempt is left, or the failure is permanent.</summary>
    public sealed record None : NextAttempt;
}
