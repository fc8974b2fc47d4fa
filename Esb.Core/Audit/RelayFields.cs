namespace Esb.Core.Audit;

/// <summary>Names of the search fields of facts about relayed requests, in addition to fields that the configuration extracts from
/// headers.</summary>
public static class RelayFields
{
    /// <summary>The method of the request.</summary>
    public const string Method = "method";

    /// <summary>The requested path, as configured: a query may hold secrets, and is not recorded.</summary>
    public const string Path = "path";

    /// <summary>The outbound endpoint to which it was relayed.</summary>
    public const string RelayedTo = "relayed-to";

    /// <summary>Status of the answer, as returned to the caller.</summary>
    public const string Status = "status";

    /// <summary>True if a fact concerns a request passing through a relay.</summary>
    public static bool IsRelayed(AuditFact fact) => fact.Process is null && fact.Fields.ContainsKey(RelayedTo);
}
