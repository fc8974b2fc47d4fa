using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>Carries messages from publishers to the subscribing endpoints, and replies back. Makes no decision about attempts or order.
/// Thread-safe.</summary>
/// <remarks>Patterns: Publish-Subscribe Channel and Request-Reply of Enterprise Integration Patterns.</remarks>
public interface ITopicTransport : IAsyncDisposable
{
    /// <summary>Name in telemetry: <c>rabbitmq</c> or <c>memory</c>.</summary>
    string System { get; }

    /// <summary>True if a confirmed message survives the end of this process.</summary>
    bool IsDurable { get; }

    /// <summary>Indicates whether a message published now could be confirmed, or the obstacle.</summary>
    TransportStatus Status { get; }

    /// <summary>Deliveries that only this process keeps and no endpoint is processing now, including delayed ones and dead letters not yet
    /// stored; 0 if the transport is durable.</summary>
    int Waiting => 0;

    /// <summary>Starts connecting, and keeps retrying in the background; returns without waiting for an unreachable server.</summary>
    Task StartAsync(CancellationToken cancellationToken);

    /// <summary>Hands a message over. Whatever the outcome, publishing the same message again is safe for subscribers that recognise its
    /// id.</summary>
    /// <param name="message">The message; its <see cref="EsbMessage.Subject"/> names the destination; its body is buffered.</param>
    /// <param name="cancellationToken">Checked before the message is handed over, never after: a publish that began is always awaited, up
    /// to its own deadline (10 s).</param>
    ValueTask<PublishResult> PublishAsync(EsbMessage message, CancellationToken cancellationToken);

    /// <summary>Publishes a request; returns once it is confirmed, with the single reply to come, which must be awaited.</summary>
    /// <param name="request">The request, as for <see cref="PublishAsync"/>.</param>
    /// <param name="timeout">Time to wait for the reply, from the publish on.</param>
    /// <param name="cancellationToken">Checked before the request is handed over, and while waiting for its reply.</param>
    /// <exception cref="Errors.EsbException">For the publish: <c>ESB-TOPIC-UNAVAILABLE</c>, it could not be handed over;
    /// <c>ESB-TOPIC-UNKNOWN</c>, the outcome is unknown. For the reply: <c>ESB-REQUEST-TIMEOUT</c>, none arrived in time;
    /// <c>ESB-TOPIC-UNKNOWN</c>, it was lost.</exception>
    Task<Task<EsbMessage>> SendRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken);

    /// <summary>Publishes a request whose reply outlives this process: any host of this configuration gets it
    /// (<see cref="ReceiveRepliesAsync"/>). Publishing it again is as safe as for <see cref="PublishAsync"/>.</summary>
    /// <param name="request">The request, as for <see cref="PublishAsync"/>; its id correlates the reply.</param>
    /// <param name="timeout">How long a reply is of use, from now on.</param>
    /// <param name="cancellationToken">Checked before the request is handed over, never after.</param>
    ValueTask<PublishResult> PublishRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken);

    /// <summary>Hands replies to such requests to the handler until the result is disposed. A reply that fails stays, and is handed over
    /// again; one may also come twice.</summary>
    Task<ITopicReader> ReceiveRepliesAsync(ReplyHandler handler, CancellationToken cancellationToken);

    /// <summary>Delivers messages that match a subscription to the handler until the result is disposed; then waits for in-flight
    /// deliveries.</summary>
    Task<ITopicSubscription> SubscribeAsync(Subscription subscription, DeliveryHandler handler, CancellationToken cancellationToken);

    /// <summary>Creates the objects that a subscription needs to keep its messages, and delivers none; does nothing if the server is
    /// unreachable. <see cref="SubscribeAsync"/> creates them anyway.</summary>
    Task DeclareAsync(Subscription subscription, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Stops the arrival of messages in the queues of a removed endpoint. Waiting messages stay, or become dead letters if only
    /// this process keeps them.</summary>
    Task RetireAsync(Subscription subscription, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>The removed endpoints for which messages still wait in durable queues, with their number.</summary>
    IReadOnlyList<(string Endpoint, long Waiting)> Abandoned => [];

    /// <summary>Returns the number of messages that wait for an endpoint, without those in progress; null if they cannot be counted or the
    /// transport is not connected.</summary>
    /// <exception cref="EsbException">Transient: the server did not answer.</exception>
    ValueTask<long?> CountWaitingAsync(Subscription subscription, CancellationToken cancellationToken) => ValueTask.FromResult<long?>(null);

    /// <summary>Switches to other topics, and to other endpoints that may exist on some host.</summary>
    Task ChangeAsync(
        IReadOnlyDictionary<string, TopicConfig> topics,
        IReadOnlyList<Subscription> endpoints,
        CancellationToken cancellationToken
    ) => Task.CompletedTask;

    /// <summary>Waits until messages that only this process keeps have been settled by their subscribers; returns at once if the transport
    /// is durable.</summary>
    Task DrainAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Hands every dead letter to the handler until the result is disposed; a letter that fails stays and is
    /// redelivered.</summary>
    Task<ITopicReader> ReadDeadLettersAsync(DeadLetterHandler handler, CancellationToken cancellationToken);
}

/// <summary>A receiver; disposing it stops new deliveries and waits for in-flight ones.</summary>
public interface ITopicReader : IAsyncDisposable
{
    /// <summary>True if messages can arrive now: on a broker, if the queue has our consumer.</summary>
    bool IsLive { get; }
}

/// <summary>A running subscription. Thread-safe.</summary>
public interface ITopicSubscription : ITopicReader
{
    /// <summary>Reason why no messages arrive, brief, beginning with a code if there is one; null if none, and while it is
    /// paused.</summary>
    string? Reason { get; }

    /// <summary>True if it receives nothing because it was paused. Then it is not live, which is not an error.</summary>
    bool IsPaused { get; }

    /// <summary>Changes its limits: waits for in-flight deliveries and returns prefetched messages in their order; nothing is lost,
    /// duplicated or overtaken.</summary>
    /// <param name="concurrency">Concurrent deliveries, from 1; with lanes, the number of lanes processed concurrently.</param>
    /// <param name="prefetch">Maximum unsettled messages in transit, from 1; a transport may fix it if order counts.</param>
    /// <param name="isPaused">True to receive nothing for now.</param>
    /// <param name="cancellationToken">Cancels waiting; the change still happens.</param>
    Task TuneAsync(int concurrency, int prefetch, bool isPaused, CancellationToken cancellationToken);
}

/// <summary>Processes one delivery and returns its settlement. Must not throw: a delivery whose handler throws is returned to its
/// queue.</summary>
public delegate ValueTask<Settlement> DeliveryHandler(TopicDelivery delivery, CancellationToken cancellationToken);

/// <summary>Takes a dead letter over. Throws if it cannot.</summary>
public delegate ValueTask DeadLetterHandler(Storage.DeadLetter deadLetter, CancellationToken cancellationToken);

/// <summary>Takes the reply to a request, which may be a fault (<see cref="FaultReply"/>). Throws if it cannot.</summary>
public delegate ValueTask ReplyHandler(Guid request, EsbMessage reply, CancellationToken cancellationToken);

/// <summary>Readiness of a transport for messages.</summary>
/// <param name="IsReady">True if a message published now could be confirmed.</param>
/// <param name="Reason">The obstacle, brief; null if none.</param>
public sealed record TransportStatus(bool IsReady, string? Reason = null);
