using System.Text.Json;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Storage.Files;

namespace Esb.Storage.TakeOver;

/// <summary>What happened to a parked message.</summary>
internal enum ParkingEventKind
{
    /// <summary>It was parked, or written again with what is known of it.</summary>
    Parked,

    /// <summary>It was tried again in vain.</summary>
    Rescheduled,

    /// <summary>It left.</summary>
    Removed,

    /// <summary>An operator wants its key tried again.</summary>
    Released,
}

/// <summary>A record of parked messages, as release 0.1 wrote it to a segment; the body of a parked message lies beside it.</summary>
internal sealed record ParkingEvent
{
    public required ParkingEventKind Kind { get; init; }

    public required string Endpoint { get; init; }

    public required string Line { get; init; }

    /// <summary>When it happened; of a message that is written again, when it was parked.</summary>
    public required DateTimeOffset At { get; init; }

    public Guid Id { get; init; }

    public DateTimeOffset? DueAt { get; init; }

    public int Attempt { get; init; }

    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];

    public Guid ConversationId { get; init; }

    public string Subject { get; init; } = "";

    public string? ContentType { get; init; }

    public string? CorrelationId { get; init; }

    public string? Key { get; init; }

    public string? Party { get; init; }

    public DateTimeOffset CreatedAt { get; init; }

    public IReadOnlyDictionary<string, string> Headers { get; init; } = new Dictionary<string, string>();

    public ParkedMessage ToParked(ReadOnlyMemory<byte> body) =>
        new(
            new EsbMessage
            {
                Id = Id,
                ConversationId = ConversationId,
                Subject = Subject,
                ContentType = ContentType,
                CorrelationId = CorrelationId,
                Key = Key,
                Party = Party,
                CreatedAt = CreatedAt,
                Attempt = Attempt,
                Headers = MessageHeaders.From(Headers),
                Body = MessageBody.FromBytes(body),
            },
            At,
            Failures,
            DueAt
        );

    /// <summary>Reads a record; the body points into it.</summary>
    public static (ParkingEvent Event, ReadOnlyMemory<byte> Body) Read(ReadOnlyMemory<byte> payload)
    {
        var item = StoredItems.Read(payload)[0];
        var read =
            JsonSerializer.Deserialize(item.Json.Span, StorageJson.Default.ParkingEvent)
            ?? throw new JsonException("The record holds nothing.");
        return (read, item.Bytes.GetValueOrDefault());
    }
}
