using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Core.Topics;

/// <summary>Subscription of an outbound endpoint.</summary>
/// <param name="Endpoint">The endpoint's name, which names its queue.</param>
/// <param name="Patterns">The patterns it subscribes to; a message that matches several is delivered once.</param>
/// <param name="Concurrency">Concurrent deliveries, from 1.</param>
/// <param name="Prefetch">Maximum unsettled messages in transit, from 1; a transport may fix it if order counts.</param>
/// <param name="SingleActive">True if only one subscriber of the queue, on any host, receives messages at a time, one by one and in their
/// order.</param>
/// <param name="Queue">Settings of the queue.</param>
/// <param name="RetryDelays">Every delay that a <see cref="Settlement.Later"/> may ask for.</param>
public sealed record Subscription(
    string Endpoint,
    IReadOnlyList<SubjectPattern> Patterns,
    int Concurrency,
    int Prefetch,
    bool SingleActive,
    QueueConfig Queue,
    IReadOnlyList<TimeSpan> RetryDelays
)
{
    private const int LeastPrefetch = 32;

    /// <summary>Number of lanes that share the messages by their key, each with a single active subscriber and in order,
    /// <see cref="Concurrency"/> of them at once on a host; null without lanes.</summary>
    public int? Lanes { get; init; }

    /// <summary>With lanes: the turn of a message, which is worked on after all earlier ones of its lane with the same turn, and beside the
    /// others; one without a turn waits for none. Null if a lane is worked on strictly in order. Must be quick and not throw.</summary>
    public Func<EsbMessage, string?>? TurnOf { get; init; }

    /// <summary>True if it answers requests: a request whose requester no longer waits is not delivered to it. Other subscribers treat a
    /// request like any message.</summary>
    public bool Answers { get; init; }

    /// <summary>True if processing a message may publish others. A transport that is not durable counts the message as settled once those
    /// are settled.</summary>
    public bool Publishes { get; init; }

    /// <summary>True if it handles messages whose bodies are too large for memory.</summary>
    public bool TakesStreams { get; init; }

    /// <summary>Creates the subscription for the configuration of an endpoint.</summary>
    public static Subscription Of(OutboundEndpointConfig config)
    {
        var isOrdered = config.Delivery != DeliveryMode.Parallel;
        var prefetch = config.Prefetch ?? DefaultPrefetch(config.PoolSize, config.ProcessingThreads);
        return new Subscription(
            config.Name,
            config.Subscribe,
            config.ProcessingThreads,
            prefetch,
            SingleActive: config.Delivery == DeliveryMode.Ordered,
            config.Queue,
            isOrdered ? [] : config.Retry.Delays
        )
        {
            Lanes = config.Delivery == DeliveryMode.OrderedByKey ? config.Lanes : null,
            TurnOf = config is HeldEndpointConfig ? LineKey.Of : null,
            Answers = config.Answers,
            TakesStreams = config.TakesStreams,
            Publishes = config.Processes.Count > 0,
        };
    }

    /// <summary>The default prefetch.</summary>
    public static int DefaultPrefetch(int poolSize, int processingThreads) =>
        Math.Max(LeastPrefetch, 2 * Math.Min(poolSize, processingThreads));
}
