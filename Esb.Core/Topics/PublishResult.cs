namespace Esb.Core.Topics;

/// <summary>What became of a publish.</summary>
public enum PublishOutcome
{
    /// <summary>It is kept by the transport, for every subscriber.</summary>
    Confirmed,

    /// <summary>It was not taken by every subscriber: most often nobody has it. Publishing it again may help, with the same id.</summary>
    Refused,

    /// <summary>Nobody can tell. Publish it again, with the same id.</summary>
    Unknown,
}

/// <summary>What became of a publish.</summary>
/// <param name="Outcome">Whether the transport has the message.</param>
/// <param name="Reason">Why not, in a few words; null when confirmed.</param>
/// <param name="Settled">Completes when every subscriber has settled the message (delivered, parked or dead-lettered), where the transport is not durable; completed already where it is.</param>
public sealed record PublishResult(PublishOutcome Outcome, string? Reason, Task Settled)
{
    /// <summary>Confirmed by a durable transport.</summary>
    public static readonly PublishResult Confirmed = new(PublishOutcome.Confirmed, null, Task.CompletedTask);

    /// <summary>Refused, and why.</summary>
    public static PublishResult Refused(string reason) => new(PublishOutcome.Refused, reason, Task.CompletedTask);

    /// <summary>Unknown, and why.</summary>
    public static PublishResult Unknown(string reason) => new(PublishOutcome.Unknown, reason, Task.CompletedTask);
}
