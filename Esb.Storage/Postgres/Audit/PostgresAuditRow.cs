using System.Text.Json;
using Esb.Core.Audit;
using Esb.Storage.Bodies;
using Esb.Storage.Evidence;
using Esb.Storage.Sql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>A row of <c>audit_event</c>.</summary>
internal sealed record PostgresAuditRow
{
    public Guid Id { get; init; }

    public DateTime OccurredAt { get; init; }

    public string Kind { get; init; } = "";

    public Guid MessageId { get; init; }

    public Guid ConversationId { get; init; }

    public Guid? CausedBy { get; init; }

    public string? Endpoint { get; init; }

    public string? Process { get; init; }

    public string? Step { get; init; }

    public string? Name { get; init; }

    public string? Subject { get; init; }

    public int Attempt { get; init; }

    /// <summary>Null also where <see cref="HasOddDuration"/>.</summary>
    public TimeSpan? Duration { get; init; }

    /// <summary>True if the row holds a duration that this program did not write.</summary>
    public bool HasOddDuration { get; init; }

    public string? Code { get; init; }

    public string? Reason { get; init; }

    public string? TraceId { get; init; }

    public string? Party { get; init; }

    public string? Host { get; init; }

    public string? Revision { get; init; }

    public string? Fields { get; init; }

    public string? Headers { get; init; }

    public string? ContentType { get; init; }

    public byte[]? Body { get; init; }

    public string? BodyEncoding { get; init; }

    public string? BodyState { get; init; }

    public long? BodyLength { get; init; }

    public byte[]? BodyHash { get; init; }

    public byte[]? BodyDigest { get; init; }

    public Guid? Chain { get; init; }

    public long? Number { get; init; }

    public byte[]? Link { get; init; }

    public bool IsErased { get; init; }

    public AuditFact ToFact() => IsErased ? ToRecorded() with { BodyState = AuditBodyState.Erased } : ToRecorded();

    /// <summary>Converts the row to a fact with its place, for verification; accepts any content.</summary>
    public StoredLink ToLink() =>
        new()
        {
            Id = Id,
            Fact = TryRead(),
            BodyDigest = BodyDigest,
            Chain = Chain,
            Number = Number ?? 0,
            Link = Link ?? [],
        };

    private AuditFact? TryRead()
    {
        if (HasOddDuration || !IsNameOf<AuditKind>(Kind) || (BodyState is not null && !IsNameOf<AuditBodyState>(BodyState)))
            return null;
        try
        {
            return ToRecorded();
        }
        catch (Exception ex) when (ex is ArgumentException or InvalidDataException or JsonException)
        {
            return null; // not written by this program
        }
    }

    private AuditFact ToRecorded()
    {
        var fact = new AuditFact
        {
            Id = Id,
            Time = new DateTimeOffset(OccurredAt),
            Kind = Enum.Parse<AuditKind>(Kind),
            MessageId = MessageId,
            ConversationId = ConversationId,
            CausedBy = CausedBy,
            Endpoint = Endpoint,
            Process = Process,
            Step = Step,
            Name = Name,
            Subject = Subject,
            Attempt = Attempt,
            Duration = Duration,
            Code = Code,
            Reason = Reason,
            TraceId = TraceId,
            Party = Party,
            Host = Host,
            Revision = Revision,
            Headers = Headers is null ? null : StoredJson.Fields(Headers),
            ContentType = ContentType,
            // a plain null would become no bytes
            Body = Body is null ? null : (ReadOnlyMemory<byte>?)new PackedBody(BodyEncoding, Body).Unpack(),
            BodyState = BodyState is null ? null : Enum.Parse<AuditBodyState>(BodyState),
            BodyLength = BodyLength,
            BodyHash = BodyHash is null ? null : (ReadOnlyMemory<byte>?)BodyHash,
        };
        return Fields is null ? fact : fact with { Fields = StoredJson.Fields(Fields) };
    }

    // As it is written, and nothing else: searches compare the text, so a number or a blank would hide the row from them.
    private static bool IsNameOf<T>(string name)
        where T : struct, Enum => Enum.TryParse<T>(name, out var value) && Enum.GetName(value) == name;
}
