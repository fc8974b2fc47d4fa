using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Delivery.Failures;

/// <summary>What is kept of a failure for operators: its sentence, at most 8 KiB, without what is masked in the message that is worked on.</summary>
internal static class FailureText
{
    /// <summary>The failure of an endpoint that threw what it did not foresee: only then does the exception's own text say more than the sentence. Otherwise that text may repeat values of the message, and goes to logs only.</summary>
    public const string Unforeseen = "ESB-ENDPOINT-FAILED";

    public static string Of(EsbException failure)
    {
        var text = failure is { Code: Unforeseen, InnerException: { } inner } ? $"{failure.Message} {inner.Message}" : failure.Message;
        return FailedAttempts.Cut(MaskedFlow.Clean(text), DeadLetter.MaxReasonLength);
    }
}
