using Esb.Core.Configuration.Settings;

namespace Esb.Core.Topics;

/// <summary>Kind of queue that the broker keeps for an endpoint.</summary>
public enum QueueType
{
    /// <summary>Replicated and durable.</summary>
    Quorum,

    /// <summary>On one node; faster on a single broker.</summary>
    Classic,
}

/// <summary>Behaviour of a full queue.</summary>
public enum QueueOverflow
{
    /// <summary>Rejects publishes.</summary>
    RejectPublish,

    /// <summary>Drops the oldest message to its dead-letter target.</summary>
    DropHead,
}

/// <summary>Settings of an endpoint's queue; fixed once it exists on a broker.</summary>
public sealed record QueueConfig : SettingsRecord
{
    /// <summary>The kind of queue.</summary>
    [Setting("The kind of queue on the broker.")]
    public QueueType Type { get; init; }

    /// <summary>Maximum number of messages; null for no limit.</summary>
    [Setting("The most messages the queue keeps; no limit by default.", Range = "1..1000000000")]
    public int? MaxLength { get; init; }

    /// <summary>Behaviour when full.</summary>
    [Setting("What a full queue does.")]
    public QueueOverflow Overflow { get; init; }
}
