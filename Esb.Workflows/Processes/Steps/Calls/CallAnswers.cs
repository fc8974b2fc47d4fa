using System.Globalization;
using System.Text;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Takes the answer of a call for the message, or for a failure. Thread-safe.</summary>
/// <param name="settings">The step.</param>
/// <param name="mask">Masks what is shown of an answer.</param>
/// <param name="logger">Logs answers that are failures.</param>
internal sealed partial class CallAnswers(CallConfig settings, IMessageMask mask, ILogger<CallAnswers> logger)
{
    private const int Shown = 300;
    private const int Kept = 64 * 1024;

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly StatusPattern[] _expected = settings.Expect.Count > 0 ? [.. settings.Expect] : [StatusPattern.Success];
    private readonly bool _keeps = settings.Headers?.Word != AnswerHeaders.Replace;

    /// <summary>Makes the answer the message.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-STATUS</c>: its status is a failure.</exception>
    public void Take(MessageContext context, EsbMessage answer)
    {
        var status = answer.Headers[EsbHeaders.Status] is { } text ? int.Parse(text, CultureInfo.InvariantCulture) : (int?)null;
        if (status is { } code && !IsExpected(code))
            throw Failure(context, answer, code);

        context.SetProperty(MessageContext.StatusProperty, status is null ? null : (double)status);
        var headers = answer.Headers.Without(EsbHeaders.Status);
        context.Message = answer with
        {
            Headers = _keeps ? headers.Over(context.Message.Headers) : headers,
            ConversationId = context.Received.ConversationId,
            CorrelationId = context.Received.CorrelationId,
            Key = context.Message.Key, // where a later step holds the message, it keeps its order
        };
    }

    private bool IsExpected(int status)
    {
        foreach (var pattern in _expected)
        {
            if (pattern.Matches(status))
                return true;
        }

        return false;
    }

    private EsbException Failure(MessageContext context, EsbMessage answer, int status)
    {
        // masked before it is cut
        var shown = SafeText.Of(MaskedFlow.Clean(TextOf(mask.IsEmpty ? answer : mask.Apply(answer).Message) ?? ""), Shown);
        LogStatus(settings.Endpoint, context.Message.Id, status, shown);
        var text = TextOf(answer);
        var reason = $"The endpoint '{settings.Endpoint}' answered with status {status}{(shown.Length == 0 ? "." : $": {shown}")}";
        return new EndpointException(settings.Endpoint, "ESB-HTTP-STATUS", reason, isTransient: status is 408 or 429 or >= 500)
        {
            CallAnswer = new FailedAnswer(status, text is { Length: > Kept } ? text[..Kept] : text),
        };
    }

    // Null where the body is empty, or no text.
    private static string? TextOf(EsbMessage answer)
    {
        if (answer.Body.Length == 0)
            return null;
        try
        {
            var text = Strict.GetString(answer.Body.Bytes.Span);
            return text.Contains('\0', StringComparison.Ordinal) ? null : text;
        }
        catch (DecoderFallbackException)
        {
            return null;
        }
    }

    [LoggerMessage(
        EventId = 3003,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint} answered the call of message {MessageId} with status {Status}: {Answer}"
    )]
    private partial void LogStatus(string endpoint, Guid messageId, int status, string answer);
}
