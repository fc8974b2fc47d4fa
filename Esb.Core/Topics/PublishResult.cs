namespace Esb.Core.Topics;

/// <summary>Outcome of a publish.</summary>
public enum PublishOutcome
{
    /// <summary>The transport keeps the message for every subscriber.</summary>
    Confirmed,

    /// <summary>The message was not accepted by every subscriber: most often by none. Publishing it again with the same id may
    /// help.</summary>
    Refused,

    /// <summary>The outcome is unknown. Publish the message again, with the same id.</summary>
    Unknown,
}

/// <summary>Result of a publish.</summary>
/// <param name="Outcome">Indicates whether the transport has the message.</param>
/// <param name="Reason">The reason of a failure, brief; null if confirmed.</param>
/// <param name="Settled">Completes when every subscriber has settled the message (delivered, parked or dead-lettered), if the transport is
/// not durable; already completed if it is.</param>
public sealed record PublishResult(PublishOutcome Outcome, string? Reason, Task Settled)
{
    /// <summary>Confirmed by a durable transport.</summary>
    public static readonly PublishResult Confirmed = new(PublishOutcome.Confirmed, null, Task.CompletedTask);

    /// <summary>Refused, with the reason.</summary>
    public static PublishResult Refused(string reason) => new(PublishOutcome.Refused, reason, Task.CompletedTask);

    /// <summary>Unknown, with the reason.</summary>
    public static PublishResult Unknown(string reason) => new(PublishOutcome.Unknown, reason, Task.CompletedTask);
}
