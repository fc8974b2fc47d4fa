using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Topics;

namespace Esb.Topics;

/// <summary>What publishers are told when a topic does not do as asked.</summary>
internal static class TopicFaults
{
    private static readonly TimeSpan RetryAfter = TimeSpan.FromSeconds(5);

    public static EsbException Unavailable(string subject, PublishResult result) => Unavailable(
        result.Outcome == PublishOutcome.Unknown
            ? $"Nobody can tell whether {subject} took the message ({result.Reason}); send it again."
            : $"{subject} takes no message right now: {result.Reason}.");

    public static EsbException NotAnswered(string reason) => Unavailable($"The broker gives no answer: {reason}.");

    public static EsbException ReplyLost() => Unavailable("The connection to the broker was lost while a reply was awaited.");

    public static EsbException RequestTimeout(string subject, TimeSpan timeout) =>
        new("ESB-REQUEST-TIMEOUT", $"No reply from {subject} within {Duration.Format(timeout)}.", FaultKind.Timeout);

    private static EsbException Unavailable(string sentence) => new("ESB-TOPIC-UNAVAILABLE", sentence, FaultKind.Unavailable) { RetryAfter = RetryAfter };
}
