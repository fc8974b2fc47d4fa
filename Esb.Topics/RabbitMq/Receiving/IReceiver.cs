using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Consumes the queue of an endpoint, or its lanes, with fixed limits until disposed.</summary>
internal interface IReceiver : ITopicReader
{
    /// <summary>The reason why it does not consume; null if it does.</summary>
    string? Reason { get; }

    /// <summary>True if the first attempt to consume has succeeded or failed.</summary>
    bool HasTried { get; }

    /// <summary>Waits until the first attempt to consume has succeeded or failed.</summary>
    Task WaitForFirstAttemptAsync(CancellationToken cancellationToken);
}
