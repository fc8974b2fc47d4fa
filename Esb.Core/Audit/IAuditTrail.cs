using System.Diagnostics;
using Esb.Core.Messages;

namespace Esb.Core.Audit;

/// <summary>Takes audit facts. Thread-safe. One that says no more records what happened, and nothing of the messages.</summary>
/// <remarks>
/// A fact that its store refuses for good, and that is about something done, is put aside on this machine and told, so that nobody does that again for its sake.
/// Of what has not been done yet (<see cref="AuditKind.Received"/>, <see cref="AuditKind.Recorded"/>) the caller hears, as a failure that is not transient.
/// </remarks>
public interface IAuditTrail
{
    /// <summary>What is made unreadable before anything of a message is recorded or logged.</summary>
    IMessageMask Mask => NoMask.Instance;

    /// <summary>Records a fact; when this returns it is durable. Calls at the same time share one flush.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: it could not be written.</exception>
    ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken);

    /// <summary>Records a fact together with what the configuration wants to be recorded of a message there: headers, fields, body; all of it masked.</summary>
    /// <param name="fact">What happened.</param>
    /// <param name="content">The message as it was then, which may be another than the one that the fact is about, such as its answer. A body that still streams is not recorded.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: it could not be written.</exception>
    ValueTask RecordAsync(AuditFact fact, EsbMessage content, CancellationToken cancellationToken) => RecordAsync(fact, cancellationToken);

    /// <summary>How much of a message is wanted with facts of this kind at an endpoint, where its subject is not known yet. For fields and bodies one that streams has to be buffered.</summary>
    AuditBodies Wants(AuditKind kind, string endpoint) => AuditBodies.None;

    /// <summary>Whether the steps that a message passes are wanted, each with a fact, where it came in by this endpoint.</summary>
    bool WantsSteps(string endpoint) => false;
}

/// <summary>Makes facts of messages.</summary>
public static class AuditFacts
{
    /// <summary>What facts of this process call the host: its machine and process.</summary>
    public static string Host { get; } = $"{Environment.MachineName}/{Environment.ProcessId}";

    /// <summary>A fact about a message, here and now, in the current trace.</summary>
    public static AuditFact Of(EsbMessage message, AuditKind kind, TimeProvider time)
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
        };
    }

    // The twelve bits behind the milliseconds hold their fraction (RFC 9562, section 6.2, method 3): what happens to a message within one millisecond keeps its order.
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
