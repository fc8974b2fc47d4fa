using Esb.Core.Messages;

namespace Esb.Core.Errors;

/// <summary>A message cannot be processed: a stable code, and a sentence that may be shown to the sender.</summary>
/// <remarks><see cref="Kind"/> classifies the fault; <see cref="IsTransient"/> indicates whether a retry can help.</remarks>
public class EsbException : Exception
{
    private static readonly IReadOnlyDictionary<string, object> NoProperties = new Dictionary<string, object>();

    /// <summary>Creates a fault.</summary>
    /// <param name="code">Stable, for callers and searches: <c>ESB-…</c>.</param>
    /// <param name="message">One plain sentence, without secrets, inner addresses or file paths.</param>
    /// <param name="kind">Kind of fault.</param>
    /// <param name="inner">The cause, for logs only.</param>
    public EsbException(string code, string message, FaultKind kind, Exception? inner = null)
        : base(message, inner)
    {
        Code = code;
        Kind = kind;
    }

    /// <summary>Stable, for callers and searches: <c>ESB-…</c>.</summary>
    public string Code { get; }

    /// <summary>A sentence for operators only: addresses, and the cause in plain words, without secrets. Not part of an answer to a caller;
    /// null if there is nothing to add.</summary>
    public string? Detail { get; init; }

    /// <summary>The answer of an external system that is the failure, for operators only; null if none. Its beginning is shown,
    /// masked.</summary>
    public EsbMessage? Answer { get; init; }

    /// <summary>Kind of fault, which determines the response to a caller.</summary>
    public FaultKind Kind { get; }

    /// <summary>The HTTP status requested by the configuration; null for the status of <see cref="Kind"/>.</summary>
    public int? Status { get; init; }

    /// <summary>The answer that a call took for a failure, for the branch that catches it; null for any other failure.</summary>
    public FailedAnswer? CallAnswer { get; init; }

    /// <summary>What a process adds for its caller, in protocols that have a place for it (the detail of a SOAP fault): an XML element, or
    /// text. Null if nothing.</summary>
    public string? CallerDetail { get; init; }

    /// <summary>What a branch that catches the failure finds in properties, besides code and reason. Never null.</summary>
    public IReadOnlyDictionary<string, object> Properties { get; init; } = NoProperties;

    /// <summary>Time that a caller should wait before a retry; null if unknown.</summary>
    public TimeSpan? RetryAfter { get; init; }

    /// <summary>True if the same message may succeed later without any change.</summary>
    public virtual bool IsTransient => Kind is FaultKind.Unavailable or FaultKind.Timeout;
}
