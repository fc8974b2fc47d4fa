using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>When messages arrived at sinks, and since when each was waited for there: since it was accepted.</summary>
internal sealed class Arrivals
{
    private readonly List<DateTimeOffset> _times = [];
    private readonly List<(DateTimeOffset From, DateTimeOffset To)> _waits = [];

    private Arrivals() { }

    public static async Task<Arrivals> ReadAsync(
        IEnumerable<ISink> sinks,
        IEnumerable<SentMessage> sent,
        CancellationToken cancellationToken
    )
    {
        // What nobody confirmed may have been held by its sender, or in a host that was frozen, until it arrived.
        var accepted = sent.ToDictionary(
            message => message.Id,
            message => message.Outcome == SendOutcome.Confirmed ? message.OutcomeAt ?? message.SentAt : (DateTimeOffset?)null
        );
        var arrivals = new Arrivals();
        foreach (var sink in sinks)
        {
            foreach (var entry in await sink.ReadAsync(cancellationToken))
            {
                arrivals._times.Add(entry.At);
                if (accepted.GetValueOrDefault(entry.Id, DateTimeOffset.MinValue) is { } since)
                    arrivals._waits.Add((since, entry.At));
            }
        }

        arrivals._times.Sort();
        return arrivals;
    }

    /// <summary>How long until the next arrival; null after the last one.</summary>
    public TimeSpan? Next(DateTimeOffset time)
    {
        var index = _times.BinarySearch(time);
        if (index < 0)
            index = ~index;
        return index < _times.Count ? _times[index] - time : null;
    }

    /// <summary>The moment, or the next one at which there is something to wait for: senders may hang on a host that is frozen, and then
    /// nothing can arrive.</summary>
    public DateTimeOffset Awaited(DateTimeOffset moment)
    {
        if (_waits.Any(wait => wait.From <= moment && moment <= wait.To))
            return moment;
        return _waits.Where(wait => wait.From > moment && wait.From < wait.To).Select(wait => wait.From).DefaultIfEmpty(moment).Min();
    }
}
