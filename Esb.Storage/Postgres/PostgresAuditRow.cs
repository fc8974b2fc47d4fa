using Esb.Core.Audit;

namespace Esb.Storage.Postgres;

/// <summary>A row of <c>audit_event</c>.</summary>
internal sealed record PostgresAuditRow
{
    public Guid Id { get; init; }

    public DateTime OccurredAt { get; init; }

    public string Kind { get; init; } = "";

    public Guid MessageId { get; init; }

    public Guid ConversationId { get; init; }

    public string? Endpoint { get; init; }

    public string? Process { get; init; }

    public string? Name { get; init; }

    public string? Subject { get; init; }

    public int Attempt { get; init; }

    public TimeSpan? Duration { get; init; }

    public string? Code { get; init; }

    public string? Reason { get; init; }

    public string? TraceId { get; init; }

    public string? Party { get; init; }

    public string? Fields { get; init; }

    public string? ContentType { get; init; }

    public byte[]? Body { get; init; }

    public AuditFact ToFact()
    {
        var fact = new AuditFact
        {
            Id = Id,
            Time = new DateTimeOffset(OccurredAt),
            Kind = Enum.Parse<AuditKind>(Kind),
            MessageId = MessageId,
            ConversationId = ConversationId,
            Endpoint = Endpoint,
            Process = Process,
            Name = Name,
            Subject = Subject,
            Attempt = Attempt,
            Duration = Duration,
            Code = Code,
            Reason = Reason,
            TraceId = TraceId,
            Party = Party,
            ContentType = ContentType,
            Body = Body is null ? null : (ReadOnlyMemory<byte>?)Body,
        };
        return Fields is null ? fact : fact with { Fields = PostgresFields.FromJson(Fields) };
    }
}
