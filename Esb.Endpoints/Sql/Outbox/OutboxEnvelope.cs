using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>An outgoing message without its id, subject and body, as stored in the outbox. Immutable.</summary>
internal sealed record OutboxEnvelope
{
    public required Guid ConversationId { get; init; }

    public required DateTimeOffset CreatedAt { get; init; }

    public required string Endpoint { get; init; }

    public string? Process { get; init; }

    public string? Step { get; init; }

    public Guid? CausedBy { get; init; }

    public string? Key { get; init; }

    public string? ContentType { get; init; }

    public string? CorrelationId { get; init; }

    public string? Party { get; init; }

    public string? TraceParent { get; init; }

    public string? TraceState { get; init; }

    public IReadOnlyDictionary<string, string>? Headers { get; init; }

    public static string Write(OutgoingMessage outgoing)
    {
        var (message, trace) = (outgoing.Message, outgoing.Parent);
        var envelope = new OutboxEnvelope
        {
            ConversationId = message.ConversationId,
            CreatedAt = message.CreatedAt,
            Endpoint = outgoing.Endpoint,
            Process = outgoing.Process,
            Step = outgoing.Step,
            CausedBy = outgoing.CausedBy,
            Key = message.Key,
            ContentType = message.ContentType,
            CorrelationId = message.CorrelationId,
            Party = message.Party,
            TraceParent = trace == default ? null : $"00-{trace.TraceId}-{trace.SpanId}-{(int)trace.TraceFlags:x2}",
            TraceState = trace.TraceState,
            Headers = message.Headers.Count == 0 ? null : message.Headers.ToDictionary(header => header.Key, header => header.Value),
        };
        return JsonSerializer.Serialize(envelope, OutboxJson.Default.OutboxEnvelope);
    }

    public static OutgoingMessage Read(string json, Guid id, string subject, ReadOnlyMemory<byte> body)
    {
        var envelope = JsonSerializer.Deserialize(json, OutboxJson.Default.OutboxEnvelope)!;
        var message = new EsbMessage
        {
            Id = id,
            Subject = subject,
            Body = MessageBody.FromBytes(body),
            Headers = envelope.Headers is null ? MessageHeaders.Empty : MessageHeaders.From(envelope.Headers),
            ConversationId = envelope.ConversationId,
            CreatedAt = envelope.CreatedAt,
            Key = envelope.Key,
            ContentType = envelope.ContentType,
            CorrelationId = envelope.CorrelationId,
            Party = envelope.Party,
        };
        ActivityContext.TryParse(envelope.TraceParent, envelope.TraceState, out var trace);
        return new OutgoingMessage(message, envelope.Endpoint, envelope.Process, trace)
        {
            Step = envelope.Step,
            CausedBy = envelope.CausedBy,
        };
    }
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(OutboxEnvelope))]
internal sealed partial class OutboxJson : JsonSerializerContext;
