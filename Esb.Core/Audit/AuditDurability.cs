namespace Esb.Core.Audit;

/// <summary>State of recorded facts when the call that records them returns.</summary>
public enum AuditDurability
{
    /// <summary>Flushed to disk: the facts survive a power cut. Required where something was accepted.</summary>
    Flushed,

    /// <summary>Written to the file: the facts survive the end of this process, and are flushed within 100 ms. For exchanges whose caller
    /// waits for the answer, and that accept nothing.</summary>
    Written,
}
