using System.Text;
using Esb.Core.Audit;

namespace Esb.Host.Management.Messages;

/// <summary>An audit fact in API responses.</summary>
internal sealed record AuditFactView
{
    private static readonly Encoding Utf8 = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    public required Guid Id { get; init; }
    public required AuditKind Kind { get; init; }
    public required DateTimeOffset Time { get; init; }
    public required Guid MessageId { get; init; }
    public required Guid ConversationId { get; init; }
    public Guid? CausedBy { get; init; }
    public string? Endpoint { get; init; }
    public string? Process { get; init; }
    public string? Step { get; init; }
    public string? Name { get; init; }
    public string? Subject { get; init; }
    public int Attempt { get; init; }
    public double? DurationSeconds { get; init; }
    public string? Code { get; init; }
    public string? Reason { get; init; }
    public string? TraceId { get; init; }
    public string? Party { get; init; }
    public string? Host { get; init; }
    public string? Revision { get; init; }
    public IReadOnlyDictionary<string, string> Fields { get; init; } = new Dictionary<string, string>();
    public IReadOnlyDictionary<string, string>? Headers { get; init; }
    public string? ContentType { get; init; }
    public AuditBodyState? BodyState { get; init; }

    /// <summary>The length of the whole body, even if less of it is recorded or shown.</summary>
    public long? BodyBytes { get; init; }

    /// <summary>SHA-256, in hexadecimal digits.</summary>
    public string? BodyHash { get; init; }

    /// <summary>The body as text; null if it is not text or was not requested.</summary>
    public string? Body { get; init; }

    /// <summary>A body that is not text.</summary>
    public byte[]? BodyBase64 { get; init; }

    public static AuditFactView Of(AuditFact fact) =>
        new()
        {
            Id = fact.Id,
            Kind = fact.Kind,
            Time = fact.Time,
            MessageId = fact.MessageId,
            ConversationId = fact.ConversationId,
            CausedBy = fact.CausedBy,
            Endpoint = fact.Endpoint,
            Process = fact.Process,
            Step = fact.Step,
            Name = fact.Name,
            Subject = fact.Subject,
            Attempt = fact.Attempt,
            DurationSeconds = fact.Duration?.TotalSeconds,
            Code = fact.Code,
            Reason = fact.Reason,
            TraceId = fact.TraceId,
            Party = fact.Party,
            Host = fact.Host,
            Revision = fact.Revision,
            Fields = fact.Fields,
            ContentType = fact.ContentType,
            BodyState = fact.BodyState,
            BodyBytes = fact.BodyLength ?? fact.Body?.Length,
            BodyHash = fact.BodyHash is { } hash ? Convert.ToHexStringLower(hash.Span) : null,
        };

    /// <summary>The fact with body and headers, which lists omit.</summary>
    public static AuditFactView WithBody(AuditFact fact) => WithText(fact) with { Headers = fact.Headers };

    /// <summary>A page of query results.</summary>
    public static Page<AuditFactView> PageOf(AuditQuery query, IReadOnlyList<AuditFactView> facts) =>
        new(facts, Next: facts.Count == query.Limit ? facts[^1].Id.ToString() : null);

    private static AuditFactView WithText(AuditFact fact) =>
        Text(fact.Body) is { } text ? Of(fact) with { Body = text } : Of(fact) with { BodyBase64 = fact.Body?.ToArray() };

    private static string? Text(ReadOnlyMemory<byte>? body)
    {
        try
        {
            return body is { } bytes ? Utf8.GetString(bytes.Span) : null;
        }
        catch (DecoderFallbackException)
        {
            return null;
        }
    }
}
