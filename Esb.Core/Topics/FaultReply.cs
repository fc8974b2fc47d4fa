using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>Replies that report a failed request: problem+json (RFC 9457) under the header <see cref="EsbHeaders.Fault"/>.</summary>
public static class FaultReply
{
    private const string NoTitle = "The request failed.";

    /// <summary>Creates the reply to a request that failed.</summary>
    public static EsbMessage Of(EsbMessage request, EsbException failure, TimeProvider time)
    {
        var problem = new
        {
            title = failure.Message,
            status = failure.Status ?? Faults.StatusOf(failure.Kind),
            code = failure.Code,
        };
        var body = MessageBody.FromBytes(JsonSerializer.SerializeToUtf8Bytes(problem));
        return request.Reply(body, time) with
        {
            ContentType = "application/problem+json",
            Headers = MessageHeaders.Empty.With(EsbHeaders.Fault, failure.Code),
        };
    }

    /// <summary>Returns the failure that a reply reports; null if it reports none.</summary>
    public static EsbException? Read(EsbMessage reply)
    {
        if (reply.Headers[EsbHeaders.Fault] is not { } code)
            return null;
        var problem = Problem(reply.Body);
        var status =
            problem?["status"] is JsonValue number && number.TryGetValue(out int value) && value is >= 400 and <= 599 ? value : 500;
        var title = problem?["title"] is JsonValue text && text.TryGetValue(out string? sentence) ? sentence : NoTitle;
        return new EsbException(code, title, KindOf(status)) { Status = status };
    }

    private static FaultKind KindOf(int status) =>
        Enum.GetValues<FaultKind>()
            .FirstOrDefault(kind => Faults.StatusOf(kind) == status, status < 500 ? FaultKind.Invalid : FaultKind.Internal);

    private static JsonObject? Problem(MessageBody body)
    {
        try
        {
            return JsonNode.Parse(body.Bytes.Span) as JsonObject;
        }
        catch (JsonException)
        {
            return null; // foreign services may send any content; the code is enough
        }
    }
}
