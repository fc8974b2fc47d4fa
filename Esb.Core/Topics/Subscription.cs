using Esb.Core.Endpoints;

namespace Esb.Core.Topics;

/// <summary>What an outbound endpoint wants delivered, and how.</summary>
/// <param name="Endpoint">The endpoint's name, which names its queue.</param>
/// <param name="Patterns">What it subscribes to; a message that matches several comes once.</param>
/// <param name="Concurrency">Deliveries at once, from 1.</param>
/// <param name="Prefetch">Messages that may be on their way here unsettled, from 1; a transport may fix it where the order counts.</param>
/// <param name="SingleActive">Whether only one subscriber of the queue, on whatever host, gets messages at a time, one by one and in their order.</param>
/// <param name="Queue">How the queue is made.</param>
/// <param name="RetryDelays">Every delay that a <see cref="Settlement.Later"/> may ask for.</param>
public sealed record Subscription(
    string Endpoint,
    IReadOnlyList<SubjectPattern> Patterns,
    int Concurrency,
    int Prefetch,
    bool SingleActive,
    QueueConfig Queue,
    IReadOnlyList<TimeSpan> RetryDelays)
{
    private const int LeastPrefetch = 32;

    /// <summary>How many lanes share the messages by their key, each with a single active subscriber and in order, <see cref="Concurrency"/> of them at once on a host; null where there are none.</summary>
    public int? Lanes { get; init; }

    /// <summary>Whether it answers requests: one that nobody waits for any more is not brought to it. To others a request is a message like any other.</summary>
    public bool Answers { get; init; }

    /// <summary>Whether what it does with a message may publish others. A transport that is not durable counts the message as settled once
    /// those are.</summary>
    public bool Publishes { get; init; }

    /// <summary>What the configuration of an endpoint wants.</summary>
    public static Subscription Of(OutboundEndpointConfig config)
    {
        var isOrdered = config.Delivery != DeliveryMode.Parallel;
        var prefetch = config.Prefetch ?? DefaultPrefetch(config.PoolSize, config.ProcessingThreads);
        return new Subscription(config.Name, config.Subscribe, config.ProcessingThreads, prefetch, SingleActive: config.Delivery == DeliveryMode.Ordered, config.Queue, isOrdered ? [] : config.Retry.Delays)
        {
            Lanes = config.Delivery == DeliveryMode.OrderedByKey ? config.Lanes : null,
            Answers = config.Answers,
            Publishes = config.Processes.Count > 0,
        };
    }

    /// <summary>The prefetch where none is configured.</summary>
    public static int DefaultPrefetch(int poolSize, int processingThreads) => Math.Max(LeastPrefetch, 2 * Math.Min(poolSize, processingThreads));
}
