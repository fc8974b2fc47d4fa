using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Endpoints.MassTransit;

/// <summary>Reads the answers of MassTransit applications.</summary>
internal static class ReplyReader
{
    private const string Fault = "urn:message:MassTransit:Fault";
    private const string Json = "application/json";
    private const int MaxReason = 1_000;

    /// <summary>Returns the answer as a message.</summary>
    /// <exception cref="EndpointException"><c>ESB-MT-FAULT</c>: the application failed; <c>ESB-MT-MESSAGETYPE</c>: the answer is of another
    /// type.</exception>
    public static EsbMessage Read(MassTransitOutboundConfig config, EsbMessage request, Envelope answer)
    {
        var reply = new EsbMessage
        {
            Id = Guid.TryParse(answer.MessageId, out var id) ? id : MessageIds.Derive(request.Id, "reply"),
            ConversationId = request.ConversationId,
            CorrelationId = request.Id.ToString(),
            CreatedAt = answer.SentTime ?? request.CreatedAt,
            ContentType = Json,
            Headers = new HeaderRules(config.Headers).Admit(answer.Headers, out _),
            Body = MessageBody.FromBytes(answer.Message),
        };
        if (answer.MessageTypes.Contains(config.ReplyType!.Urn))
            return reply;
        if (answer.MessageTypes.Any(type => type.StartsWith(Fault, StringComparison.Ordinal)))
        {
            throw new EndpointException(
                config.Name,
                "ESB-MT-FAULT",
                $"The application that '{config.Name}' asked answered with a fault.",
                isTransient: false
            )
            {
                Detail = Describe(answer.Message),
                Answer = reply,
            };
        }

        throw new EndpointException(
            config.Name,
            "ESB-MT-MESSAGETYPE",
            $"The answer to '{config.Name}' is of another message type.",
            isTransient: false
        )
        {
            Detail = SafeText.Of(string.Join(", ", answer.MessageTypes), MaxReason),
            Answer = reply,
        };
    }

    private static string? Describe(ReadOnlyMemory<byte> fault)
    {
        try
        {
            using var document = JsonDocument.Parse(fault);
            if (
                !document.RootElement.TryGetProperty("exceptions", out var exceptions)
                || exceptions.ValueKind != JsonValueKind.Array
                || exceptions.GetArrayLength() == 0
            )
                return null;
            var first = exceptions[0];
            return SafeText.Of($"{Text(first, "exceptionType")}: {Text(first, "message")}", MaxReason);
        }
        catch (JsonException)
        {
            return null; // the code is enough
        }
    }

    private static string Text(JsonElement element, string name) =>
        element.ValueKind == JsonValueKind.Object && element.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String
            ? value.GetString()!
            : "";
}
