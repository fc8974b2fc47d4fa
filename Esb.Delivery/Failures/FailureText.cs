using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Delivery.Failures;

/// <summary>The failure text stored for operators: one sentence of at most 8 KiB, without the masked values of the current
/// message.</summary>
internal static class FailureText
{
    /// <summary>The error code of an endpoint that threw an unexpected exception. Only then does the text of the exception add to the
    /// sentence; otherwise it may repeat values of the message, and is written to logs only.</summary>
    public const string Unforeseen = "ESB-ENDPOINT-FAILED";

    public static string Of(EsbException failure)
    {
        var text = failure is { Code: Unforeseen, InnerException: { } inner }
            ? $"{failure.Message} {inner.Message}"
            : FailureReport.Of(failure);
        return FailedAttempts.Cut(MaskedFlow.Clean(text), DeadLetter.MaxReasonLength);
    }
}
