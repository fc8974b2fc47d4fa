using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Keeps the queue of an endpoint, or its lanes, consumed with fixed numbers until it is disposed.</summary>
internal interface IReceiver : ITopicReader
{
    /// <summary>What keeps it from consuming; null where nothing does.</summary>
    string? Reason { get; }

    /// <summary>Whether the first attempt to consume has succeeded or failed.</summary>
    bool HasTried { get; }

    /// <summary>Waits until the first attempt to consume has succeeded or failed.</summary>
    Task WaitForFirstAttemptAsync(CancellationToken cancellationToken);
}
