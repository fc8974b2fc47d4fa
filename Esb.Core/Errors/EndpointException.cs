namespace Esb.Core.Errors;

/// <summary>An endpoint failed at its external system. The delivery controller uses it to decide how to proceed with the message.</summary>
public sealed class EndpointException : EsbException
{
    /// <summary>Creates a failure of an endpoint.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="code">Stable: <c>ESB-FILE-…</c>, <c>ESB-HTTP-…</c>, <c>ESB-SQL-…</c>.</param>
    /// <param name="message">One plain sentence, without secrets.</param>
    /// <param name="isTransient">True if a retry may help.</param>
    /// <param name="inner">The cause.</param>
    /// <param name="kind">Kind of fault reported to a waiting caller.</param>
    public EndpointException(
        string endpoint,
        string code,
        string message,
        bool isTransient,
        Exception? inner = null,
        FaultKind kind = FaultKind.Outside
    )
        : base(code, message, kind, inner)
    {
        Endpoint = endpoint;
        IsTransient = isTransient;
    }

    /// <summary>The endpoint's name.</summary>
    public string Endpoint { get; }

    /// <inheritdoc/>
    public override bool IsTransient { get; }

    /// <summary>The failed step of the endpoint's process: its id, or its path; null if none.</summary>
    public string? Step { get; init; }

    /// <summary>True if nothing left the bus, such as when a message lacks a parameter value: the failure says nothing about the external
    /// system.</summary>
    public bool IsUnsent { get; init; }

    /// <summary>True if the external system is unreachable: every other message would fail as well, so the endpoint pauses and
    /// probes.</summary>
    public bool IsOutage { get; init; }

    /// <summary>True if the external system gave no answer, so that its availability is unknown. Ten in a row, of more than one message,
    /// pause the endpoint.</summary>
    public bool IsUnanswered { get; init; }

    /// <summary>True if the answer reports the service as unavailable, regardless of the message: a proxy without its server, an overload.
    /// It counts like <see cref="IsUnanswered"/>; while it pauses the endpoint, it is not an attempt of its message.</summary>
    public bool IsTurnedAway { get; init; }
}
