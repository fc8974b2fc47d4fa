using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Wire;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Messages of an endpoint that came to this process and are not settled yet. One that comes again has not killed it, whatever the broker counts. Thread-safe.</summary>
/// <remarks>
/// A foreign id need not be of one message only: such messages count as the broker says. Forgets all rather than grow without bound, as others may settle
/// what went back: then each redelivery counts. Of a classic queue, which only knows whether a message was redelivered, one death of another host may be missed.
/// </remarks>
internal sealed class SeenDeliveries
{
    private const int Most = 10_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, Stay> _seen = [];

    /// <summary>Notes a delivery.</summary>
    /// <param name="wire">As it came.</param>
    /// <param name="source">Whence. What comes again from there is another copy, or somebody returned it: both count as the broker says.</param>
    /// <returns>The same, with the deliveries that this process has lived through taken off.</returns>
    public WireMessage Came(WireMessage wire, DeliverySource source)
    {
        if (!Guid.TryParse(wire.Properties.MessageId, out var id)) return wire;
        lock (_gate)
        {
            if (!_seen.TryGetValue(id, out var stay))
            {
                if (_seen.Count == Most) _seen.Clear();
                _seen.Add(id, new Stay(wire.Redeliveries, LivedThrough: 0, source));
                return wire;
            }

            if (stay.Source != source) _seen[id] = stay = stay with { LivedThrough = stay.LivedThrough + 1, Source = source };
            return wire.Redeliveries == 0 ? wire : wire with { Redeliveries = Math.Max(stay.Before, wire.Redeliveries - stay.LivedThrough) };
        }
    }

    /// <summary>A delivery is about to be acknowledged.</summary>
    public void Settled(WireMessage wire)
    {
        if (!Guid.TryParse(wire.Properties.MessageId, out var id)) return;
        lock (_gate) _seen.Remove(id);
    }

    /// <summary>What is known of a message.</summary>
    /// <param name="Before">How often it was delivered before it came here first.</param>
    /// <param name="LivedThrough">How often it came again over another channel.</param>
    /// <param name="Source">Whence it came last.</param>
    private readonly record struct Stay(int Before, int LivedThrough, DeliverySource Source);
}
