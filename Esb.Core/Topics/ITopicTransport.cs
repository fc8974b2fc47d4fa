using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>Carries messages from publishers to the endpoints that subscribe, and replies back. Decides nothing about attempts or order. Thread-safe.</summary>
/// <remarks>Patterns: Publish-Subscribe Channel and Request-Reply of Enterprise Integration Patterns.</remarks>
public interface ITopicTransport : IAsyncDisposable
{
    /// <summary>As telemetry names it: <c>rabbitmq</c> or <c>memory</c>.</summary>
    string System { get; }

    /// <summary>Whether a confirmed message survives the end of this process.</summary>
    bool IsDurable { get; }

    /// <summary>Whether a message published now could be confirmed; what stands in the way, otherwise.</summary>
    TransportStatus Status { get; }

    /// <summary>Deliveries that only this process keeps and no endpoint works on now, those put off and dead letters not stored yet among them; 0 where the transport is durable.</summary>
    int Waiting => 0;

    /// <summary>Starts connecting and goes on trying by itself; returns without waiting for a server that is away.</summary>
    Task StartAsync(CancellationToken cancellationToken);

    /// <summary>Hands a message over. Whatever the outcome, publishing the same message again is safe for those that recognise its id.</summary>
    /// <param name="message">Its <see cref="EsbMessage.Subject"/> names where it goes; its body is buffered.</param>
    /// <param name="cancellationToken">Is looked at before the message is handed over, never after: a publish that began is always awaited, up to its own deadline (10 s).</param>
    ValueTask<PublishResult> PublishAsync(EsbMessage message, CancellationToken cancellationToken);

    /// <summary>Publishes a request; returns once it is confirmed, with the one reply to come, which has to be awaited.</summary>
    /// <param name="request">As of <see cref="PublishAsync"/>.</param>
    /// <param name="timeout">How long the reply is waited for, from the publish on.</param>
    /// <param name="cancellationToken">Is looked at before the request is handed over, and while its reply is waited for.</param>
    /// <exception cref="Errors.EsbException">Of the publish: <c>ESB-TOPIC-UNAVAILABLE</c>, it could not be handed over; <c>ESB-TOPIC-UNKNOWN</c>, nobody can tell. Of the reply: <c>ESB-REQUEST-TIMEOUT</c>, none in time; <c>ESB-TOPIC-UNKNOWN</c>, it was lost.</exception>
    Task<Task<EsbMessage>> SendRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken);

    /// <summary>Delivers what matches a subscription to the handler until the result is disposed; then waits for the deliveries under way.</summary>
    Task<ITopicSubscription> SubscribeAsync(Subscription subscription, DeliveryHandler handler, CancellationToken cancellationToken);

    /// <summary>Makes what a subscription needs to keep its messages, and delivers none; returns without doing it where the server is away.
    /// <see cref="SubscribeAsync"/> does it anyway.</summary>
    Task DeclareAsync(Subscription subscription, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Lets nothing more come to the queues of an endpoint that is gone. What waits there stays, or becomes dead letters where
    /// only this process keeps it.</summary>
    Task RetireAsync(Subscription subscription, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Goes on with other topics, and other endpoints that may exist on some host.</summary>
    Task ChangeAsync(IReadOnlyDictionary<string, TopicConfig> topics, IReadOnlyList<Subscription> endpoints, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Waits until what only this process keeps has been settled by its subscribers; returns at once where the transport is durable.</summary>
    Task DrainAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Hands every dead letter to the handler until the result is disposed; one that fails stays and comes again.</summary>
    Task<ITopicReader> ReadDeadLettersAsync(DeadLetterHandler handler, CancellationToken cancellationToken);
}

/// <summary>Something that receives; disposing it stops new deliveries and waits for those under way.</summary>
public interface ITopicReader : IAsyncDisposable
{
    /// <summary>Whether messages can arrive right now: on a broker, whether the queue has our consumer.</summary>
    bool IsLive { get; }
}

/// <summary>A running subscription. Thread-safe.</summary>
public interface ITopicSubscription : ITopicReader
{
    /// <summary>What keeps messages from arriving, in a few words that begin with a code where there is one; null where nothing does, and while it is paused.</summary>
    string? Reason { get; }

    /// <summary>Whether it receives nothing because it was told so. Then it is not live, which is no failure.</summary>
    bool IsPaused { get; }

    /// <summary>Goes on with other numbers: deliveries under way are waited for, what came too early goes back in its order, nothing is lost, doubled or overtaken.</summary>
    /// <param name="concurrency">Deliveries at once, from 1; of lanes, how many are worked on at once.</param>
    /// <param name="prefetch">Messages that may be on their way here unsettled, from 1; a transport may fix it where the order counts.</param>
    /// <param name="isPaused">Whether nothing is to be received for now.</param>
    /// <param name="cancellationToken">Stops waiting; the change still happens.</param>
    Task TuneAsync(int concurrency, int prefetch, bool isPaused, CancellationToken cancellationToken);
}

/// <summary>Works on one delivery and says what becomes of it. Must not throw: a delivery whose handler throws is returned to its queue.</summary>
public delegate ValueTask<Settlement> DeliveryHandler(TopicDelivery delivery, CancellationToken cancellationToken);

/// <summary>Takes a dead letter over. Throws when it could not.</summary>
public delegate ValueTask DeadLetterHandler(Storage.DeadLetter deadLetter, CancellationToken cancellationToken);

/// <summary>Whether a transport can take messages.</summary>
/// <param name="IsReady">Whether a message published now could be confirmed.</param>
/// <param name="Reason">What stands in the way, in a few words; null when nothing does.</param>
public sealed record TransportStatus(bool IsReady, string? Reason = null);
