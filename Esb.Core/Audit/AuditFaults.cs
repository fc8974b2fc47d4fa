using Esb.Core.Errors;

namespace Esb.Core.Audit;

/// <summary>Faults of facts that cannot be recorded.</summary>
public static class AuditFaults
{
    private const string UnrecordedCode = "ESB-AUD-UNRECORDED";

    /// <summary>The message was processed, but this could not be recorded (<c>ESB-AUD-UNRECORDED</c>): the caller must assume neither
    /// success nor failure.</summary>
    /// <param name="cause">The reason. If it is not transient, neither is this fault: otherwise the message would be processed again and
    /// again.</param>
    public static EsbException Unrecorded(EsbException cause) =>
        cause.IsTransient
            ? new(UnrecordedCode, "The message was worked on, but that could not be recorded.", FaultKind.Unavailable, cause)
            {
                RetryAfter = cause.RetryAfter,
            }
            : new(UnrecordedCode, "The message was worked on, but the store of the audit refuses to record it.", FaultKind.Internal, cause);
}
