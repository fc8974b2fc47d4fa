using Esb.Core.Messages;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Declares exchanges and queues. Declaring an existing one changes nothing; declaring one that exists with other settings fails
/// with 406.</summary>
internal sealed class RabbitMqTopology(RabbitMqNames names, Func<IReadOnlyCollection<string>> topics)
{
    // The broker's limit does not count attempts: each reconnect counts against it for every prefetched message.
    private const int DeliveryLimit = 1_000_000;

    // The routing key that binds a lane; equal keys make equal shares.
    private const string LaneWeight = "1";

    private const int NoticesKept = 100;
    private static readonly TimeSpan NoticesExpire = TimeSpan.FromMinutes(5);

    /// <summary>Declares the exchanges and queues that all hosts share.</summary>
    public async Task DeclareSharedAsync(IConnection connection, CancellationToken cancellationToken)
    {
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await DeclareKeepersAsync(channel, cancellationToken);
        foreach (var topic in topics())
        {
            await channel.ExchangeDeclareAsync(
                names.Topic(topic),
                ExchangeType.Topic,
                durable: true,
                autoDelete: false,
                new Dictionary<string, object?> { ["alternate-exchange"] = names.Unroutable },
                cancellationToken: cancellationToken
            );
        }

        await DeclareNoticesAsync(channel, cancellationToken); // before any publish: the declaration of its reader may come too late
    }

    /// <summary>Declares the queues that keep messages without an endpoint.</summary>
    public async Task DeclareKeepersAsync(IChannel channel, CancellationToken cancellationToken)
    {
        await channel.ExchangeDeclareAsync(
            names.Unroutable,
            ExchangeType.Fanout,
            durable: true,
            autoDelete: false,
            cancellationToken: cancellationToken
        );
        await DeclareAsync(channel, names.Unroutable, Quorum(), cancellationToken);
        await channel.QueueBindAsync(names.Unroutable, names.Unroutable, "", cancellationToken: cancellationToken);
        await DeclareDeadLettersAsync(channel, names.DeadLetters, cancellationToken);
        await DeclareAsync(channel, names.Probes, Newest(1), cancellationToken);
    }

    /// <summary>Declares a queue of dead letters on their way to a store.</summary>
    public Task DeclareDeadLettersAsync(IChannel channel, string queue, CancellationToken cancellationToken) =>
        DeclareAsync(channel, queue, Alone(Quorum()), cancellationToken);

    /// <summary>Declares the queue of replies that any host of the configuration may read.</summary>
    public Task DeclareRepliesAsync(IChannel channel, CancellationToken cancellationToken) =>
        DeclareAsync(channel, names.DurableReplies, Quorum(), cancellationToken);

    /// <summary>Declares the queue of copies from which unroutable messages are counted; it is deleted when no host reads it.</summary>
    public async Task DeclareNoticesAsync(IChannel channel, CancellationToken cancellationToken)
    {
        var arguments = Newest(NoticesKept);
        arguments["x-expires"] = (long)NoticesExpire.TotalMilliseconds;
        await DeclareAsync(channel, names.UnroutableNotices, arguments, cancellationToken);
        await channel.QueueBindAsync(names.UnroutableNotices, names.Unroutable, "", cancellationToken: cancellationToken);
    }

    /// <summary>Declares the queues of an endpoint: its own, or its lanes and the exchanges that distribute messages over them; and one for
    /// each delay before a retry.</summary>
    public async Task DeclareEndpointAsync(
        IChannel channel,
        EndpointNames queues,
        Subscription subscription,
        CancellationToken cancellationToken
    )
    {
        if (queues.AreOld)
            await DeclareDeadLettersAsync(channel, names.OldDeadLetters, cancellationToken);
        if (subscription.Lanes is not null)
            await DeclareExchangesAsync(channel, queues, cancellationToken);
        foreach (var queue in queues.Lanes(subscription.Lanes))
            await DeclareAsync(channel, queue, Endpoint(queues, subscription), cancellationToken);
        await BindLanesAsync(channel, queues, subscription, cancellationToken);
        await DeclareRungsAsync(channel, queues, subscription, cancellationToken);
    }

    /// <summary>Declares the queues in which messages of an endpoint wait for their next attempt.</summary>
    public async Task DeclareRungsAsync(
        IChannel channel,
        EndpointNames queues,
        Subscription subscription,
        CancellationToken cancellationToken
    )
    {
        foreach (var delay in subscription.RetryDelays.Distinct())
            await DeclareAsync(channel, queues.Rung(delay), Rung(queues, delay), cancellationToken);
    }

    /// <summary>Declares an existing queue of an endpoint once more, which fails if it has other settings.</summary>
    public Task RedeclareAsync(
        IChannel channel,
        EndpointNames queues,
        string queue,
        Subscription subscription,
        CancellationToken cancellationToken
    ) => DeclareAsync(channel, queue, Endpoint(queues, subscription), cancellationToken);

    /// <summary>Declares a queue that keeps messages in their order while a migration is under way.</summary>
    /// <param name="channel">The channel for the declaration.</param>
    /// <param name="queue">Its name.</param>
    /// <param name="room">The approximate number of messages after which it refuses more; null for no limit.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    public Task DeclareAsideAsync(IChannel channel, string queue, long? room, CancellationToken cancellationToken)
    {
        var arguments = Alone(Quorum());
        if (room is { } most)
            (arguments["x-max-length"], arguments["x-overflow"]) = (most, "reject-publish");
        return DeclareAsync(channel, queue, arguments, cancellationToken);
    }

    /// <summary>Binds the queues of an endpoint to all its subscriptions; existing bindings remain.</summary>
    public async Task BindAsync(IChannel channel, EndpointNames queues, Subscription subscription, CancellationToken cancellationToken)
    {
        await BindLanesAsync(channel, queues, subscription, cancellationToken);
        foreach (var pattern in subscription.Patterns)
            await BindAsync(channel, queues, subscription, pattern, cancellationToken);
    }

    /// <summary>Binds the queue of an endpoint, or the exchange in front of its lanes, to a topic.</summary>
    public Task BindAsync(
        IChannel channel,
        EndpointNames queues,
        Subscription subscription,
        SubjectPattern pattern,
        CancellationToken cancellationToken
    ) =>
        subscription.Lanes is null
            ? channel.QueueBindAsync(queues.Queue, names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken)
            : channel.ExchangeBindAsync(queues.Queue, names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken);

    /// <summary>Removes a binding; a missing binding is no error.</summary>
    public Task UnbindAsync(
        IChannel channel,
        EndpointNames queues,
        Subscription subscription,
        SubjectPattern pattern,
        CancellationToken cancellationToken
    ) =>
        subscription.Lanes is null
            ? channel.QueueUnbindAsync(queues.Queue, names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken)
            : channel.ExchangeUnbindAsync(queues.Queue, names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken);

    /// <summary>Returns the arguments of a queue that keeps only its newest messages, on every node: a classic queue is unavailable while
    /// its node is down.</summary>
    public static Dictionary<string, object?> Newest(int messages)
    {
        var arguments = Quorum();
        arguments["x-max-length"] = messages;
        arguments["x-overflow"] = "drop-head";
        return arguments;
    }

    // Messages with a slot go to its lane. The others go to the exchange that distributes them by the key, if a foreign publisher gives
    // one.
    private async Task DeclareExchangesAsync(IChannel channel, EndpointNames queues, CancellationToken cancellationToken)
    {
        var (slots, keys) = (queues.Queue, queues.Keys);
        await channel.ExchangeDeclareAsync(
            keys,
            "x-consistent-hash",
            durable: true,
            autoDelete: false,
            new Dictionary<string, object?> { ["hash-header"] = EsbHeaders.Key },
            cancellationToken: cancellationToken
        );
        await channel.ExchangeDeclareAsync(
            slots,
            ExchangeType.Direct,
            durable: true,
            autoDelete: false,
            new Dictionary<string, object?> { ["alternate-exchange"] = keys },
            cancellationToken: cancellationToken
        );
    }

    private async Task BindLanesAsync(
        IChannel channel,
        EndpointNames queues,
        Subscription subscription,
        CancellationToken cancellationToken
    )
    {
        if (subscription.Lanes is not { } lanes)
            return;
        for (var lane = 0; lane < lanes; lane++)
        {
            var queue = queues.Lane(lane);
            foreach (var slot in LaneSlots.OfLane(lane, lanes))
                await channel.QueueBindAsync(queue, queues.Queue, slot, noWait: true, cancellationToken: cancellationToken);
            // answered after all before it
            await channel.QueueBindAsync(queue, queues.Keys, LaneWeight, cancellationToken: cancellationToken);
        }
    }

    private Dictionary<string, object?> Endpoint(EndpointNames queues, Subscription subscription)
    {
        var queue = subscription.Queue;
        var arguments = queue.Type == QueueType.Quorum ? Quorum() : new Dictionary<string, object?> { ["x-queue-type"] = "classic" };
        if (subscription.SingleActive || subscription.Lanes is not null)
            Alone(arguments);
        if (queue.MaxLength is { } length)
            arguments["x-max-length"] = length;
        arguments["x-overflow"] = queue.Overflow == QueueOverflow.DropHead ? "drop-head" : "reject-publish";
        return DeadLetteringTo(queues.AreOld ? names.OldDeadLetters : names.DeadLetters, arguments); // existing arguments cannot be changed
    }

    private static Dictionary<string, object?> Rung(EndpointNames queues, TimeSpan delay)
    {
        var arguments = DeadLetteringTo(queues.Queue, Quorum());
        arguments["x-message-ttl"] = (long)delay.TotalMilliseconds;
        return arguments;
    }

    private static Dictionary<string, object?> Quorum() =>
        new()
        {
            ["x-queue-type"] = "quorum",
            ["x-overflow"] = "reject-publish",
            ["x-delivery-limit"] = DeliveryLimit,
        };

    private static Dictionary<string, object?> Alone(Dictionary<string, object?> arguments)
    {
        arguments["x-single-active-consumer"] = true;
        return arguments;
    }

    // The at-least-once strategy requires a quorum queue that refuses messages when full; otherwise the broker may lose messages that it
    // moves.
    private static Dictionary<string, object?> DeadLetteringTo(string queue, Dictionary<string, object?> arguments)
    {
        arguments["x-dead-letter-exchange"] = "";
        arguments["x-dead-letter-routing-key"] = queue;
        if (arguments["x-queue-type"] is "quorum" && arguments["x-overflow"] is "reject-publish")
            arguments["x-dead-letter-strategy"] = "at-least-once";
        return arguments;
    }

    private static Task DeclareAsync(
        IChannel channel,
        string queue,
        Dictionary<string, object?> arguments,
        CancellationToken cancellationToken
    ) =>
        channel.QueueDeclareAsync(
            queue,
            durable: true,
            exclusive: false,
            autoDelete: false,
            arguments,
            cancellationToken: cancellationToken
        );
}
