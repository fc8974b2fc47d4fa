using Esb.Core.Endpoints;
using Esb.Host.Management.Flow;
using Esb.Host.Metrics;

namespace Esb.Host.Management.Events;

/// <summary>The rates of the last second, from the totals of the metrics. Used by one task.</summary>
internal sealed class RateSample(MetricsCollector metrics, QueueLengths queues, string host, TimeProvider time)
{
    private static readonly CounterKind[] Kinds = Enum.GetValues<CounterKind>();

    private readonly Dictionary<string, long[]> _totals = [];
    private long _lookedAt;

    /// <summary>Returns the events about messages that were dead-lettered or parked, and the rates where somebody wants them.</summary>
    public IReadOnlyList<SharedEvent> Look(bool wantsRates, IEnumerable<IEndpointMonitor> monitors)
    {
        var now = time.GetTimestamp();
        var seconds = _lookedAt == 0 ? 0 : time.GetElapsedTime(_lookedAt, now).TotalSeconds;
        _lookedAt = now;
        var changes = new List<SharedEvent>();
        var endpoints = Of("endpoint", metrics.Endpoints.All, seconds, (name, counts) => Report(name, counts, changes));
        var topics = Of("topic", metrics.Topics.All, seconds, (_, _) => { });
        if (seconds <= 0)
            return [];
        if (!wantsRates)
            return changes;
        var busy = monitors
            .SelectMany(monitor => monitor.Endpoints)
            .Where(endpoint => endpoint.InFlight > 0 || endpoint.Pool?.Waiting > 0)
            .ToDictionary(
                endpoint => endpoint.Name,
                endpoint => new BusyView(endpoint.InFlight, endpoint.Pool?.InUse, endpoint.Pool?.Waiting)
            );
        changes.Add(SharedEvent.Of(BusEventKind.Rates, new RatesView(host, time.GetUtcNow(), endpoints, topics, busy, queues.Current)));
        return changes;
    }

    // What stands still is left out.
    private Dictionary<string, RateView> Of(string set, IReadOnlyList<Measured> measured, double seconds, Action<string, long[]> report)
    {
        var rates = new Dictionary<string, RateView>();
        foreach (var one in measured)
        {
            var totals = Kinds.Select(kind => one.Total(kind)).ToArray();
            var before = _totals.GetValueOrDefault($"{set} {one.Name}") ?? new long[totals.Length];
            _totals[$"{set} {one.Name}"] = totals;
            var counts = totals.Zip(before, (after, earlier) => after - earlier).ToArray();
            if (seconds <= 0 || counts.All(count => count == 0))
                continue;
            report(one.Name, counts);
            rates[one.Name] = new RateView(
                PerSecond(counts, CounterKind.DocumentsIn),
                PerSecond(counts, CounterKind.DocumentsOut),
                PerSecond(counts, CounterKind.Refused),
                PerSecond(counts, CounterKind.DeadLettered),
                PerSecond(counts, CounterKind.Parked)
            );
        }

        return rates;

        double PerSecond(long[] counts, CounterKind kind) => Math.Round(counts[(int)kind] / seconds, 2);
    }

    private void Report(string endpoint, long[] counts, List<SharedEvent> changes)
    {
        if (counts[(int)CounterKind.DeadLettered] is > 0 and var letters)
            changes.Add(SharedEvent.Of(BusEventKind.DeadLetter, new MessagesSetAside(host, endpoint, letters, time.GetUtcNow())));
        if (counts[(int)CounterKind.Parked] is > 0 and var parked)
            changes.Add(SharedEvent.Of(BusEventKind.Parked, new MessagesSetAside(host, endpoint, parked, time.GetUtcNow())));
    }
}

/// <summary>Messages became dead letters, or were parked, within the last second.</summary>
internal sealed record MessagesSetAside(string Host, string Endpoint, long Count, DateTimeOffset Time);

/// <summary>The rates of a second on one host. Endpoints and topics where nothing happened are left out.</summary>
/// <param name="Host">The host.</param>
/// <param name="Time">The end of the second.</param>
/// <param name="Endpoints">Messages per second of its endpoints.</param>
/// <param name="Topics">Messages per second of its topics.</param>
/// <param name="Busy">What its endpoints work on.</param>
/// <param name="Waiting">Messages in the queues of endpoints, whichever host will take them; counted by hosts whose rates are read.</param>
internal sealed record RatesView(
    string Host,
    DateTimeOffset Time,
    IReadOnlyDictionary<string, RateView> Endpoints,
    IReadOnlyDictionary<string, RateView> Topics,
    IReadOnlyDictionary<string, BusyView> Busy,
    IReadOnlyDictionary<string, long> Waiting
);

/// <summary>Messages per second.</summary>
internal sealed record RateView(double In, double Out, double Refused, double DeadLettered, double Parked);

/// <summary>The work of an endpoint at this moment.</summary>
/// <param name="InFlight">In-flight messages.</param>
/// <param name="InUse">Rented instances of its pool; null for inbound endpoints.</param>
/// <param name="Waiting">Callers waiting for an instance; null for inbound endpoints.</param>
internal sealed record BusyView(int InFlight, int? InUse, int? Waiting);
