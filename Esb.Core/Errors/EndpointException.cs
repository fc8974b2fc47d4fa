namespace Esb.Core.Errors;

/// <summary>An endpoint could not do its work on the outside. The delivery controller decides by it what becomes of the message.</summary>
public sealed class EndpointException : EsbException
{
    /// <summary>A failure at an endpoint.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="code">Stable: <c>ESB-FILE-…</c>, <c>ESB-HTTP-…</c>, <c>ESB-SQL-…</c>.</param>
    /// <param name="message">One plain sentence, without secrets.</param>
    /// <param name="isTransient">Whether trying again may help.</param>
    /// <param name="inner">What caused it.</param>
    /// <param name="kind">What a caller who waits is answered.</param>
    public EndpointException(string endpoint, string code, string message, bool isTransient, Exception? inner = null, FaultKind kind = FaultKind.Outside)
        : base(code, message, kind, inner)
    {
        Endpoint = endpoint;
        IsTransient = isTransient;
    }

    /// <summary>The endpoint's name.</summary>
    public string Endpoint { get; }

    /// <inheritdoc/>
    public override bool IsTransient { get; }

    /// <summary>The step of the endpoint's process that failed: its id, or where it stands; null where none did.</summary>
    public string? Step { get; init; }

    /// <summary>Whether nothing left the bus, such as where a message has no value for a parameter: the failure says nothing about the outside.</summary>
    public bool IsUnsent { get; init; }

    /// <summary>Whether the outside cannot be reached at all: then every other message would fail as well, so the endpoint pauses and probes.</summary>
    public bool IsOutage { get; init; }

    /// <summary>Whether the outside gave no answer, so that nobody knows whether it is there. Ten in a row, of more than one message, pause the endpoint.</summary>
    public bool IsUnanswered { get; init; }

    /// <summary>Whether the answer says that nobody serves this now, whatever the message is: a proxy without its server, an overload. It counts as <see cref="IsUnanswered"/> does, and while it pauses the endpoint it is no attempt of its message.</summary>
    public bool IsTurnedAway { get; init; }
}
