using System.Collections.Concurrent;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Messages of an endpoint that came to this process and are not settled yet. One that comes again has not killed it, whatever the broker counts. Thread-safe.</summary>
/// <remarks>Forgets all of them rather than grow without bound, as others may settle what went back: then each redelivery counts.</remarks>
internal sealed class SeenDeliveries
{
    private const int Most = 10_000;

    private readonly ConcurrentDictionary<string, int> _seen = new(StringComparer.Ordinal);
    private int _count;

    /// <summary>Notes a delivery.</summary>
    /// <returns>The same, knowing how often it was here before.</returns>
    public WireMessage Came(WireMessage wire)
    {
        if (wire.Properties.MessageId is not { Length: > 0 } id) return wire;
        var times = _seen.AddOrUpdate(id, 1, static (_, before) => before + 1);
        if (times > 1) return wire with { DeliveriesHere = times - 1 };
        if (Interlocked.Increment(ref _count) > Most) Forget();
        return wire;
    }

    /// <summary>A delivery is acknowledged.</summary>
    public void Settled(WireMessage wire)
    {
        if (wire.Properties.MessageId is { Length: > 0 } id && _seen.TryRemove(id, out _)) Interlocked.Decrement(ref _count);
    }

    private void Forget()
    {
        _seen.Clear();
        Volatile.Write(ref _count, 0);
    }
}
