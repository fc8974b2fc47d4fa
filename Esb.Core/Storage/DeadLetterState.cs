namespace Esb.Core.Storage;

/// <summary>State of a dead letter.</summary>
public enum DeadLetterState
{
    /// <summary>It waits for an operator.</summary>
    Open,

    /// <summary>A replay job holds it, and has not sent it yet, or not recorded so.</summary>
    Replaying,

    /// <summary>It was replayed, and has not failed again.</summary>
    Replayed,

    /// <summary>An operator discarded it.</summary>
    Discarded,
}
