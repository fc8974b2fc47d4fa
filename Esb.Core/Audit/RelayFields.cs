namespace Esb.Core.Audit;

/// <summary>Names of the fields by which facts about relayed requests are found, beside those that the configuration lifts from their headers.</summary>
public static class RelayFields
{
    /// <summary>The method of the request.</summary>
    public const string Method = "method";

    /// <summary>The path that it came to, as the configuration has it: a query may hold secrets, and is not recorded.</summary>
    public const string Path = "path";

    /// <summary>The outbound endpoint that it was relayed to.</summary>
    public const string RelayedTo = "relayed-to";

    /// <summary>The status of the answer, as the caller got it.</summary>
    public const string Status = "status";

    /// <summary>Whether a fact is about a request on its way through a relay.</summary>
    public static bool IsRelayed(AuditFact fact) => fact.Process is null && fact.Fields.ContainsKey(RelayedTo);
}
