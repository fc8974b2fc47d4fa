using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Wire;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>The unsettled messages of an endpoint that reached this process. A redelivery of one has not killed the process, whatever the
/// broker counts. Thread-safe.</summary>
/// <remarks>
/// A foreign id may belong to several messages: these count as the broker reports. The set is cleared before it grows without bound, as
/// other hosts may settle returned messages: then each redelivery counts. A classic queue reports only whether a message was redelivered,
/// so one death of another host may be missed.
/// </remarks>
internal sealed class SeenDeliveries
{
    private const int Most = 10_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, Stay> _seen = [];

    /// <summary>Records a delivery.</summary>
    /// <param name="wire">The message as received.</param>
    /// <param name="source">The source of the delivery. A repetition from the same source is another copy or was returned: both count as
    /// the broker reports.</param>
    /// <returns>The message without the deliveries that this process has survived.</returns>
    public WireMessage Came(WireMessage wire, DeliverySource source)
    {
        if (!Guid.TryParse(wire.Properties.MessageId, out var id))
            return wire;
        lock (_gate)
        {
            if (!_seen.TryGetValue(id, out var stay))
            {
                if (_seen.Count == Most)
                    _seen.Clear();
                _seen.Add(id, new Stay(wire.Redeliveries, LivedThrough: 0, source));
                return wire;
            }

            if (stay.Source != source)
                _seen[id] = stay = stay with { LivedThrough = stay.LivedThrough + 1, Source = source };
            return wire.Redeliveries == 0
                ? wire
                : wire with
                {
                    Redeliveries = Math.Max(stay.Before, wire.Redeliveries - stay.LivedThrough),
                };
        }
    }

    /// <summary>Records that a delivery is about to be acknowledged.</summary>
    public void Settled(WireMessage wire)
    {
        if (!Guid.TryParse(wire.Properties.MessageId, out var id))
            return;
        lock (_gate)
            _seen.Remove(id);
    }

    /// <summary>The state of a message.</summary>
    /// <param name="Before">The number of deliveries before its first arrival here.</param>
    /// <param name="LivedThrough">The number of repetitions over another channel.</param>
    /// <param name="Source">The source of its last delivery.</param>
    private readonly record struct Stay(int Before, int LivedThrough, DeliverySource Source);
}
