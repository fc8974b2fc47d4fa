using Esb.Topics.RabbitMq.Farm;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Checks periodically that the broker agrees that this host consumes a queue.</summary>
/// <remarks>
/// AMQP reports the number of consumers of a queue, not their owners. The number is compared with the hosts of the farm that claim to
/// consume. If a consumer is missing for longer than the detection of a dead host takes, each idle host replaces its consumer, which costs
/// nothing; a host with deliveries is not affected. A host that has just replaced its consumer is not the missing one. Consumers foreign to
/// the farm hide a missing one.
/// </remarks>
internal sealed class ConsumerWatch(string endpoint, RabbitMqNames names, ConsumerCounts counts, FarmMembers farm)
{
    // Checks are 3 s apart: a killed host is detected after 7 s, and may be expected for another 2 s.
    private const int MaxFewer = 4;

    private const int MaxMisses = 2;

    private bool _isFresh;

    /// <summary>Checks periodically until the consumer has to be replaced.</summary>
    /// <param name="session">The session that receives the consumer's deliveries.</param>
    /// <param name="note">Receives after each check whether the host consumes.</param>
    /// <param name="pause">Waits for the next check.</param>
    /// <param name="stopping">Ends it.</param>
    /// <returns>The reason why it has to be replaced.</returns>
    public async Task<string> RunAsync(ParallelSession session, Action<bool> note, Func<Task> pause, CancellationToken stopping)
    {
        var (misses, fewer, seen) = (0, 0, -1L);
        while (true)
        {
            var count = await counts.CountAsync(names.Endpoint(endpoint), stopping);
            var isIdle = session.Count == seen && !session.IsBusy;
            seen = session.Count;
            misses = session.IsOpen && count != 0 ? 0 : misses + 1;
            var isShort = count < Expected;
            if (!isShort)
                _isFresh = false;
            fewer = isShort && isIdle && !_isFresh && misses == 0 ? fewer + 1 : 0;
            note(misses == 0 && fewer < MaxFewer);
            if (misses == MaxMisses)
                return "its consumer was lost";
            if (fewer == MaxFewer)
            {
                _isFresh = true;
                return $"its queue has {count} consumers, and {Expected} hosts say that they consume it";
            }

            await pause();
        }
    }

    private int Expected => farm.ReceiversOf(endpoint).Count(receiver => receiver.Receiver.Epoch is not null);
}
