namespace Esb.Core.Audit;

/// <summary>Point at which audit facts are flushed to disk.</summary>
public enum AuditFlush
{
    /// <summary>Before a message counts as accepted; within 100 ms behind the answer where nothing is accepted.</summary>
    Accepted,

    /// <summary>Always before the next action: the receipt of a request before its first call, its end before its answer.</summary>
    Always,
}
