using Esb.Core.Errors;

namespace Esb.Core.Audit;

/// <summary>What it means that a fact could not be recorded.</summary>
public static class AuditFaults
{
    /// <summary>It was done, but that could not be recorded (<c>ESB-AUD-UNRECORDED</c>): whoever asked for it must not take it for done, nor for not done.</summary>
    /// <param name="cause">Why it could not be recorded.</param>
    public static EsbException Unrecorded(EsbException cause) =>
        new("ESB-AUD-UNRECORDED", "The message was worked on, but that could not be recorded.", FaultKind.Unavailable, cause) { RetryAfter = cause.RetryAfter };
}
