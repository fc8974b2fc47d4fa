using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Topics;

namespace Esb.Topics;

/// <summary>Errors that publishers receive when a topic fails.</summary>
internal static class TopicFaults
{
    /// <summary>The code of a request that was not answered in time.</summary>
    public const string RequestTimeoutCode = "ESB-REQUEST-TIMEOUT";

    private static readonly TimeSpan RetryAfter = TimeSpan.FromSeconds(5);

    public static EsbException Unavailable(string subject, PublishResult result) =>
        result.Outcome == PublishOutcome.Unknown
            ? Unavailable("ESB-TOPIC-UNKNOWN", $"Nobody can tell whether {subject} took the message ({result.Reason}); send it again.")
            : Unavailable("ESB-TOPIC-UNAVAILABLE", $"{subject} takes no message right now: {result.Reason}.");

    public static EsbException NotAnswered(string reason) => Unavailable("ESB-TOPIC-UNAVAILABLE", $"The broker gives no answer: {reason}.");

    public static EsbException ReplyLost() =>
        Unavailable(
            "ESB-TOPIC-UNKNOWN",
            "The connection to the broker was lost while a reply was awaited; nobody can tell what became of the request."
        );

    public static EsbException RequestTimeout(string subject, TimeSpan timeout) =>
        new(RequestTimeoutCode, $"No reply from {subject} within {Duration.Format(timeout)}.", FaultKind.Timeout);

    private static EsbException Unavailable(string code, string sentence) =>
        new(code, sentence, FaultKind.Unavailable) { RetryAfter = RetryAfter };
}
