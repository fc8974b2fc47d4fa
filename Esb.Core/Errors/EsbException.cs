namespace Esb.Core.Errors;

/// <summary>A message cannot go on, and why: a stable code, and a sentence that may be shown to whoever sent the message.</summary>
/// <remarks>Whose fault it is says <see cref="Kind"/>; whether a repetition can help says <see cref="IsTransient"/>.</remarks>
public class EsbException : Exception
{
    /// <summary>A fault.</summary>
    /// <param name="code">Stable, for callers and searches: <c>ESB-…</c>.</param>
    /// <param name="message">One plain sentence, without secrets, inner addresses or file paths.</param>
    /// <param name="kind">Whose fault it is.</param>
    /// <param name="inner">What caused it, for logs only.</param>
    public EsbException(string code, string message, FaultKind kind, Exception? inner = null)
        : base(message, inner)
    {
        Code = code;
        Kind = kind;
    }

    /// <summary>Stable, for callers and searches: <c>ESB-…</c>.</summary>
    public string Code { get; }

    /// <summary>Whose fault it is, and so what a caller is answered.</summary>
    public FaultKind Kind { get; }

    /// <summary>The HTTP status that a configuration asked for; null for that of <see cref="Kind"/>.</summary>
    public int? Status { get; init; }

    /// <summary>How long a caller should wait before it tries again; null where nobody knows.</summary>
    public TimeSpan? RetryAfter { get; init; }

    /// <summary>Whether the same message may succeed later, without anybody changing anything.</summary>
    public virtual bool IsTransient => Kind is FaultKind.Unavailable or FaultKind.Timeout;
}
