using Esb.Topics.RabbitMq.Farm;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Looks again and again whether the broker agrees that this host consumes a queue.</summary>
/// <remarks>
/// AMQP tells how many consumers a queue has, not whose. So they are compared with the hosts of the farm that say they consume. Where one is missing for
/// longer than it takes to miss a host that died, each host that is idle suspects itself, which costs it nothing: one that has deliveries is none of them.
/// Whoever has just consumed anew is not the one that is missing. Consumers that are foreign to the farm hide one that is.
/// </remarks>
internal sealed class ConsumerWatch(string endpoint, RabbitMqNames names, ConsumerCounts counts, FarmMembers farm)
{
    // Of looks 3 s apart: a host that is killed is missed after 7 s, and may be expected for another 2 s.
    private const int MaxFewer = 4;

    private const int MaxMisses = 2;

    private bool _isFresh;

    /// <summary>Looks every now and then until the consumer has to be replaced.</summary>
    /// <param name="session">What the consumer delivers to.</param>
    /// <param name="note">Is told after each look whether it consumes.</param>
    /// <param name="pause">Waits for the next look.</param>
    /// <param name="stopping">Ends it.</param>
    /// <returns>Why it has to be replaced.</returns>
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
            if (!isShort) _isFresh = false;
            fewer = isShort && isIdle && !_isFresh && misses == 0 ? fewer + 1 : 0;
            note(misses == 0 && fewer < MaxFewer);
            if (misses == MaxMisses) return "its consumer was lost";
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
