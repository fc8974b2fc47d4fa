namespace Esb.Core.Alerts;

/// <summary>Tells operators of events that need them, over the topic <see cref="Topic"/>. Thread-safe.</summary>
/// <remarks>Best effort: an alert never delays or fails what raised it, and is lost while the topics are unavailable. The audit, health and
/// metrics are the record.</remarks>
public interface IAlerts
{
    /// <summary>The topic; alerts are published where the configuration has it.</summary>
    const string Topic = "esb-events";

    /// <summary>Raises an alert, unless one of this kind, endpoint and mark was published less than a minute ago, or the endpoint
    /// subscribes to alerts itself.</summary>
    void Raise(Alert alert);
}

/// <summary>An event that needs an operator.</summary>
/// <param name="Kind">The last part of the subject: one of <see cref="AlertKinds"/>.</param>
/// <param name="Endpoint">The endpoint; null if it concerns the host.</param>
/// <param name="Code">The code of the failure; null if none.</param>
/// <param name="Reason">A sentence for operators, masked.</param>
/// <param name="MessageId">The message; null if it concerns more than one.</param>
public sealed record Alert(string Kind, string? Endpoint, string? Code, string Reason, Guid? MessageId = null)
{
    /// <summary>The mark that was crossed, such as <c>memory</c>; null for other kinds.</summary>
    public string? Mark { get; init; }
}

/// <summary>The kinds of alerts.</summary>
public static class AlertKinds
{
    /// <summary>A message was given up and kept as a dead letter.</summary>
    public const string DeadLetter = "dead-letter";

    /// <summary>A message was given up and parks its key.</summary>
    public const string Parked = "parked";

    /// <summary>The external system of an endpoint is unreachable; its messages wait.</summary>
    public const string Paused = "paused";

    /// <summary>The store cannot be read.</summary>
    public const string StoreAway = "store-away";

    /// <summary>A load has crossed its high mark.</summary>
    public const string Mark = "mark";
}
