using System.Text;
using Esb.Core.Audit;

namespace Esb.Host.Management;

/// <summary>An audit fact as the API shows it.</summary>
internal sealed record AuditFactView
{
    private static readonly Encoding Utf8 = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    public required Guid Id { get; init; }
    public required AuditKind Kind { get; init; }
    public required DateTimeOffset Time { get; init; }
    public required Guid MessageId { get; init; }
    public required Guid ConversationId { get; init; }
    public string? Endpoint { get; init; }
    public string? Process { get; init; }
    public string? Name { get; init; }
    public string? Subject { get; init; }
    public int Attempt { get; init; }
    public double? DurationSeconds { get; init; }
    public string? Code { get; init; }
    public string? Reason { get; init; }
    public string? TraceId { get; init; }
    public string? Party { get; init; }
    public IReadOnlyDictionary<string, string> Fields { get; init; } = new Dictionary<string, string>();
    public string? ContentType { get; init; }
    public int? BodyBytes { get; init; }

    /// <summary>The body as text; null where it is none, or was not asked for.</summary>
    public string? Body { get; init; }

    /// <summary>A body that is no text.</summary>
    public byte[]? BodyBase64 { get; init; }

    public static AuditFactView Of(AuditFact fact) => new()
    {
        Id = fact.Id,
        Kind = fact.Kind,
        Time = fact.Time,
        MessageId = fact.MessageId,
        ConversationId = fact.ConversationId,
        Endpoint = fact.Endpoint,
        Process = fact.Process,
        Name = fact.Name,
        Subject = fact.Subject,
        Attempt = fact.Attempt,
        DurationSeconds = fact.Duration?.TotalSeconds,
        Code = fact.Code,
        Reason = fact.Reason,
        TraceId = fact.TraceId,
        Party = fact.Party,
        Fields = fact.Fields,
        ContentType = fact.ContentType,
        BodyBytes = fact.Body?.Length,
    };

    public static AuditFactView WithBody(AuditFact fact) => Text(fact.Body) is { } text
        ? Of(fact) with { Body = text }
        : Of(fact) with { BodyBase64 = fact.Body?.ToArray() };

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
