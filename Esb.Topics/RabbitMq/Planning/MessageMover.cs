using System.Buffers.Binary;
using System.Diagnostics;
using System.Security.Cryptography;
using System.Threading.Channels;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Planning;

/// <summary>Publishes a message to its new place.</summary>
internal delegate ValueTask<PublishResult> MoveTarget(WireMessage wire, BasicProperties properties, string subject, string? key);

/// <summary>Moves the messages of one queue elsewhere, one by one in order. A message leaves the queue only after it has arrived, and is
/// never moved twice.</summary>
internal sealed class MessageMover(BrokerSession session, string endpoint)
{
    // The same as for ordered consumers: see OrderedReceiver.
    private const ushort Prefetch = 32;

    private static readonly TimeSpan Silence = TimeSpan.FromMilliseconds(300);

    /// <summary>The longest time for which a queue may neither deliver a message nor be known to be empty.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(60);

    // The id alone is not enough: foreign clients may use the same id for messages of different subjects.
    private readonly HashSet<(Guid Id, string Subject, string? Claim, UInt128 Body)> _moved = [];

    /// <param name="queue">The source queue.</param>
    /// <param name="target">Publishes to the destination.</param>
    /// <param name="cancellationToken">Stops between two messages.</param>
    /// <param name="most">The maximum number of messages, besides the few already in flight by then; by default all, until the queue is
    /// empty.</param>
    /// <returns>The number of moved messages.</returns>
    /// <exception cref="EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: a message could not be moved; it and those behind it stay.
    /// <c>ESB-PLAN-BUSY</c>: the broker delivered no message for too long.</exception>
    public async Task<int> MoveAsync(string queue, MoveTarget target, CancellationToken cancellationToken, long most = long.MaxValue)
    {
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var arrivals = Channel.CreateUnbounded<(WireMessage Wire, ulong Tag)>(); // bounded by the prefetch
        var cancelled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += (_, delivery) =>
        {
            arrivals.Writer.TryWrite((WireMessage.Of(delivery), delivery.DeliveryTag));
            return Task.CompletedTask;
        };
        consumer.UnregisteredAsync += (_, _) =>
        {
            cancelled.TrySetResult();
            return Task.CompletedTask;
        };
        channel.ChannelShutdownAsync += (_, _) =>
        {
            arrivals.Writer.TryComplete();
            cancelled.TrySetResult();
            return Task.CompletedTask;
        };
        await channel.BasicQosAsync(0, Prefetch, global: false, cancellationToken);
        var consuming = await channel.BasicConsumeAsync(queue, autoAck: false, consumer, cancellationToken);
        var moved = 0;
        for (var seen = 0L; seen < most && await HasMoreAsync(arrivals.Reader, queue, cancellationToken); seen++)
            await MoveNextAsync();

        // Cancel the consumer before closing the channel: the broker may count a closed one for a while. Messages that arrived until then
        // are moved too: otherwise they would return behind the next deliveries.
        await channel.BasicCancelAsync(consuming, noWait: false, cancellationToken);
        await cancelled.Task.WaitAsync(cancellationToken);
        while (arrivals.Reader.TryPeek(out _))
            await MoveNextAsync();
        return moved;

        async Task MoveNextAsync()
        {
            var (wire, tag) = await arrivals.Reader.ReadAsync(cancellationToken);
            if (await MoveAsync(wire, target))
                moved++;
            await channel.BasicAckAsync(tag, multiple: false, cancellationToken);
        }
    }

    private async Task<bool> MoveAsync(WireMessage wire, MoveTarget target)
    {
        var message = session.Reader.Read(wire, endpoint);
        if (
            !_moved.Add(
                (
                    message.Id,
                    message.Subject,
                    message.Headers[EsbHeaders.Claim],
                    BinaryPrimitives.ReadUInt128BigEndian(SHA256.HashData(wire.Body.Span))
                )
            )
        )
            return false;
        var properties = WireWriter.Moved(message, session.Reader.KindOf(wire, endpoint), wire);
        var result = await target(wire, properties, message.Subject, message.Key);
        if (result.Outcome == PublishOutcome.Confirmed)
            return true;
        throw new EsbException(
            "ESB-TOPIC-UNAVAILABLE",
            $"A message of '{endpoint}' could not be moved: {result.Reason}. It stays where it is; apply again.",
            FaultKind.Unavailable
        );
    }

    private async Task<bool> HasMoreAsync(ChannelReader<(WireMessage, ulong)> arrivals, string queue, CancellationToken cancellationToken)
    {
        var began = Stopwatch.GetTimestamp();
        while (true)
        {
            using var silence = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            silence.CancelAfter(Silence);
            try
            {
                return await arrivals.WaitToReadAsync(silence.Token)
                    ? true
                    : throw new EsbException("ESB-TOPIC-UNAVAILABLE", "The connection to the broker was lost.", FaultKind.Unavailable);
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                // A broker that does not count this consumer is guessing. Messages that arrived during the query count too.
                if (await session.Connection.CountAsync(queue, cancellationToken) is null or { MessageCount: 0, ConsumerCount: > 0 })
                    return arrivals.TryPeek(out _);
                if (Stopwatch.GetElapsedTime(began) > Patience)
                    throw Stuck(queue);
            }
        }
    }

    private static EsbException Stuck(string queue) =>
        new(
            "ESB-PLAN-BUSY",
            $"The broker gives no message of {queue}, and does not say that it is empty: somebody else consumes it, or its leader "
                + $"does not answer. Nothing is lost: apply again once that is over.",
            FaultKind.Invalid
        );
}
