using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.Topics.Publishing;

/// <summary>Publishes until confirmed, where repetition helps, and keeps the order of each key: messages are confirmed in the order of
/// their calls. Thread-safe.</summary>
internal sealed class OrderedPublisher(ITopicTransport transport, TimeProvider time)
{
    // A restarting broker is back within seconds; callers should not have to wait longer than this.
    private static readonly TimeSpan[] Pauses =
    [
        TimeSpan.FromMilliseconds(100),
        TimeSpan.FromMilliseconds(400),
        TimeSpan.FromSeconds(1),
        TimeSpan.FromSeconds(2),
    ];
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(20);

    private readonly KeyTurns _turns = new(time);

    /// <summary>Publishes a message. A refused or unknown outcome is retried with the same id: a queue may have been full, a broker may
    /// have restarted.</summary>
    /// <exception cref="EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: the outcome of the last attempt was refused or unknown.</exception>
    public Task<PublishResult> PublishAsync(EsbMessage message, CancellationToken cancellationToken) =>
        PublishAsync(message, () => transport.PublishAsync(message, cancellationToken), cancellationToken);

    /// <summary>Publishes a request in the same way; its reply goes to any host.</summary>
    public Task<PublishResult> PublishRequestAsync(EsbMessage request, DateTimeOffset until, CancellationToken cancellationToken) =>
        PublishAsync(request, () => transport.PublishRequestAsync(request, until - time.GetUtcNow(), cancellationToken), cancellationToken);

    private async Task<PublishResult> PublishAsync(
        EsbMessage message,
        Func<ValueTask<PublishResult>> publish,
        CancellationToken cancellationToken
    )
    {
        using var turn = await _turns.TakeAsync(message, cancellationToken); // the key is held until the outcome is known
        var started = time.GetTimestamp();
        var isUnknown = false;
        for (var repetition = 0; ; repetition++)
        {
            var result = await publish();
            if (result.Outcome == PublishOutcome.Confirmed)
                return result;
            isUnknown |= result.Outcome == PublishOutcome.Unknown;
            var isHopeless = !isUnknown && !transport.Status.IsReady;
            if (isHopeless || repetition == Pauses.Length || time.GetElapsedTime(started) > Deadline)
                throw TopicFaults.Unavailable(message.Subject, isUnknown ? result with { Outcome = PublishOutcome.Unknown } : result);
            await Task.Delay(Pauses[repetition], time, cancellationToken);
        }
    }

    /// <summary>Publishes a request once. Returns when it is confirmed, with a task for its reply; the next message of its key does not
    /// wait for that.</summary>
    public async Task<Task<EsbMessage>> SendRequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken)
    {
        using var turn = await _turns.TakeAsync(request, cancellationToken);
        return await transport.SendRequestAsync(request, timeout, cancellationToken);
    }
}
