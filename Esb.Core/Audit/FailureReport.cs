using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>The text of a failure for operators: its sentence, the address and cause, and the beginning of what an external system
/// answered.</summary>
/// <remarks>For log, status, audit and dead letters; a caller gets only the sentence. Secrets of the current message and of the answer are
/// masked.</remarks>
public static class FailureReport
{
    private const int LongestAnswer = 200;

    // Enough for the longest excerpt in any encoding, so that large bodies are not decoded.
    private const int ReadBytes = 4 * LongestAnswer;

    /// <summary>The text, of any length.</summary>
    public static string Of(EsbException failure)
    {
        var text = failure.Detail is { } detail ? $"{failure.Message} {detail}" : failure.Message;
        if (failure.Answer is { } answer && ExcerptOf(answer) is { } excerpt)
            text += $" It answered: {excerpt}";
        return MaskedFlow.Clean(text);
    }

    private static string? ExcerptOf(EsbMessage answer)
    {
        if (answer.Body.Length is not > 0 || !answer.Body.IsBuffered)
            return null;
        var shown = MaskedFlow.Show(answer);
        if (shown.State == AuditBodyState.Withheld)
            return $"{answer.Body.Length} bytes, withheld by audit.masks.";
        var start = shown.Message.Body.Bytes.Span;
        var text = Encoding.UTF8.GetString(start.Length > ReadBytes ? start[..ReadBytes] : start);
        return text.Contains('\0')
            ? $"{answer.Body.Length} bytes of {answer.ContentType ?? "no content type"}."
            : SafeText.Of(shown.Secrets.Remove(text).Trim(), LongestAnswer);
    }
}
