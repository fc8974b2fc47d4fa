using Esb.Core.Errors;

namespace Esb.Core.Audit;

/// <summary>What it means that a fact could not be recorded.</summary>
public static class AuditFaults
{
    private const string UnrecordedCode = "ESB-AUD-UNRECORDED";

    /// <summary>It was done, but that could not be recorded (<c>ESB-AUD-UNRECORDED</c>): whoever asked for it must not take it for done, nor for not done.</summary>
    /// <param name="cause">Why it could not be recorded. Where that does not pass, neither does this: the message would be worked on again and again.</param>
    public static EsbException Unrecorded(EsbException cause) => cause.IsTransient
        ? new(UnrecordedCode, "The message was worked on, but that could not be recorded.", FaultKind.Unavailable, cause) { RetryAfter = cause.RetryAfter }
        : new(UnrecordedCode, "The message was worked on, but the store of the audit refuses to record it.", FaultKind.Internal, cause);
}
