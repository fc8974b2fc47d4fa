namespace Esb.Core.Storage;

/// <summary>What has become of a dead letter.</summary>
public enum DeadLetterState
{
    /// <summary>It waits for an operator.</summary>
    Open,

    /// <summary>A replay job has it, and has not sent it yet, or not been told so.</summary>
    Replaying,

    /// <summary>It was sent again, and has not come back.</summary>
    Replayed,

    /// <summary>An operator gave it up.</summary>
    Discarded,
}
