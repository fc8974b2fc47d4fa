using System.Diagnostics;
using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>Records audit facts. Thread-safe. The default implementations record events without message content.</summary>
/// <remarks>
/// A fact about a completed action that its store rejects permanently is quarantined on this machine and reported, so that the action is
/// not repeated.
/// For an action not yet taken (<see cref="AuditKind.Received"/>, <see cref="AuditKind.Recorded"/>), the caller gets an error that is not
/// transient.
/// </remarks>
public interface IAuditTrail
{
    /// <summary>The mask applied to a message before it is recorded or logged.</summary>
    IMessageMask Mask => NoMask.Instance;

    /// <summary>Revision of the configuration, for facts that are made with it; null by default: it is set when they are
    /// recorded.</summary>
    string? Revision => null;

    /// <summary>Records a fact; durable when it returns. Concurrent calls share one flush.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: the write failed.</exception>
    ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken);

    /// <summary>Records a fact with the message content that the configuration selects: headers, fields, body; all of it masked.</summary>
    /// <param name="fact">The fact.</param>
    /// <param name="content">The message at that time; may differ from the message of the fact, such as its answer. A body that still
    /// streams is not recorded.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: the write failed.</exception>
    ValueTask RecordAsync(AuditFact fact, EsbMessage content, CancellationToken cancellationToken) => RecordAsync(fact, cancellationToken);

    /// <summary>Records the facts of one exchange together, in their order: all or none where their store can do that.</summary>
    /// <param name="records">The facts.</param>
    /// <param name="durability">Weakest state in which the call may return; <see cref="RecordsFirst"/> and mode strict require
    /// more.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: the write failed.</exception>
    async ValueTask RecordAsync(IReadOnlyList<AuditRecord> records, AuditDurability durability, CancellationToken cancellationToken)
    {
        foreach (var (fact, content) in records)
        {
            if (content is null)
                await RecordAsync(fact, cancellationToken);
            else
                await RecordAsync(fact, content, cancellationToken);
        }
    }

    /// <summary>True if each fact of an endpoint must be durable before the next action, even where nothing is accepted.</summary>
    bool RecordsFirst(string endpoint) => false;

    /// <summary>Amount of a message recorded with facts of this kind at an endpoint, while its subject is unknown. Fields and bodies
    /// require a streaming body to be buffered.</summary>
    AuditBodies Wants(AuditKind kind, string endpoint) => AuditBodies.None;

    /// <summary>The business fields of a message at an endpoint, as they may be recorded; none by default.</summary>
    IReadOnlyDictionary<string, string> FieldsOf(EsbMessage message, string endpoint) =>
        System.Collections.ObjectModel.ReadOnlyDictionary<string, string>.Empty;

    /// <summary>True if each step of a message received by this endpoint is recorded as a fact.</summary>
    bool WantsSteps(string endpoint) => false;
}

/// <summary>Creates facts from messages.</summary>
public static class AuditFacts
{
    /// <summary>Name of this host in facts: its machine and process.</summary>
    public static string Host { get; } = $"{Environment.MachineName}/{Environment.ProcessId}";

    /// <summary>Creates a fact about a message, with the current time and trace.</summary>
    /// <param name="message">The message.</param>
    /// <param name="kind">Kind of the event.</param>
    /// <param name="time">The clock.</param>
    /// <param name="endpoint">The endpoint of the event.</param>
    /// <param name="process">The process of the event.</param>
    /// <param name="duration">Duration; null if nothing was waited for.</param>
    /// <param name="fields">Values for search; null for none.</param>
    /// <param name="revision">See <see cref="IAuditTrail.Revision"/>; saves a copy of the fact when it is recorded. Null to have it set
    /// then.</param>
    public static AuditFact Of(
        EsbMessage message,
        AuditKind kind,
        TimeProvider time,
        string? endpoint = null,
        string? process = null,
        TimeSpan? duration = null,
        IReadOnlyDictionary<string, string>? fields = null,
        string? revision = null
    )
    {
        var now = time.GetUtcNow();
        return new AuditFact
        {
            Id = NewId(now),
            Kind = kind,
            Time = now,
            MessageId = message.Id,
            ConversationId = message.ConversationId,
            Subject = message.Subject.Length == 0 ? null : message.Subject,
            Attempt = message.Attempt,
            Party = message.Party,
            TraceId = Activity.Current?.TraceId.ToHexString(),
            Endpoint = endpoint,
            Process = process,
            Duration = duration,
            Fields = fields ?? NoFields,
            Host = revision is null ? null : Host,
            Revision = revision,
        };
    }

    private static readonly IReadOnlyDictionary<string, string> NoFields = new Dictionary<string, string>();

    // The twelve bits behind the milliseconds hold their fraction (RFC 9562, section 6.2, method 3): facts of a message within one
    // millisecond keep their order.
    private static Guid NewId(DateTimeOffset now)
    {
        var fraction = now.UtcTicks % TimeSpan.TicksPerMillisecond * 4096 / TimeSpan.TicksPerMillisecond;
        Span<byte> bytes = stackalloc byte[16];
        Guid.CreateVersion7(now).TryWriteBytes(bytes, bigEndian: true, out _);
        bytes[6] = (byte)(0x70 | (fraction >> 8));
        bytes[7] = (byte)fraction;
        return new Guid(bytes, bigEndian: true);
    }
}
