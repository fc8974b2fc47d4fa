using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>How long it took from each fault, or its end, until the next message arrived anywhere.</summary>
internal sealed record Recovery(IReadOnlyList<TimeSpan> Times)
{
    /// <summary>95 % were at least as quick.</summary>
    public TimeSpan Slowest95 => Times.Count == 0 ? TimeSpan.Zero : Times.Order().ElementAt((int)Math.Ceiling(Times.Count * 0.95) - 1);

    /// <param name="strikes">The faults.</param>
    /// <param name="sinks">Where messages arrive.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    /// <param name="from">From when on; by default from the end of each fault, or of the broker's where that was still away: nothing arrives without it.</param>
    public static async Task<Recovery> MeasureAsync(
        IReadOnlyList<Strike> strikes, IReadOnlyList<ISink> sinks, CancellationToken cancellationToken, Func<Strike, DateTimeOffset>? from = null)
    {
        var arrivals = new List<DateTimeOffset>();
        foreach (var sink in sinks) arrivals.AddRange((await sink.ReadAsync(cancellationToken)).Select(entry => entry.At));
        arrivals.Sort();
        return new Recovery([.. strikes.Select(strike => Next(arrivals, from?.Invoke(strike) ?? EndOf(strike, strikes))).Where(time => time is not null).Select(time => time!.Value)]);
    }

    /// <summary>From each fault of a host until messages arrived again at every endpoint: whichever it worked for, another one does.</summary>
    public static async Task<Recovery> MeasureFailOverAsync(IEnumerable<Strike> strikes, IReadOnlyList<ISink> sinks, CancellationToken cancellationToken)
    {
        var underWay = TimeSpan.FromSeconds(1); // what the host had sent may still arrive, and says nothing
        var ofSinks = new List<Recovery>();
        var ofHosts = strikes.Where(strike => strike.Name.Contains("host", StringComparison.Ordinal)).ToList();
        foreach (var sink in sinks) ofSinks.Add(await MeasureAsync(ofHosts, [sink], cancellationToken, strike => strike.StruckAt + underWay));
        return new Recovery([.. ofSinks.SelectMany(recovery => recovery.Times).Select(time => time + underWay)]);
    }

    /// <summary>The same for the senders: until the next message was accepted.</summary>
    public static Recovery OfSenders(IReadOnlyList<Strike> strikes, IEnumerable<SentMessage> sent)
    {
        var confirms = sent.Where(message => message.Outcome == SendOutcome.Confirmed && message.OutcomeAt is not null).Select(message => message.OutcomeAt!.Value).Order().ToList();
        return new Recovery([.. strikes.Select(strike => Next(confirms, strike.HealedAt)).Where(time => time is not null).Select(time => time!.Value)]);
    }

    public override string ToString() => Times.Count == 0 ? "–" : FormattableString.Invariant($"p95 {Slowest95.TotalSeconds:0.0} s ({string.Join(", ", Times.Select(time => FormattableString.Invariant($"{time.TotalSeconds:0.0}")))})");

    private static DateTimeOffset EndOf(Strike strike, IReadOnlyList<Strike> all)
    {
        var end = strike.HealedAt;
        while (all.FirstOrDefault(other => other.Name.Contains("rabbitmq", StringComparison.Ordinal) && other.StruckAt <= end && end < other.HealedAt) is { } away) end = away.HealedAt;
        return end;
    }

    // Null after the last message: nothing was left to recover with.
    private static TimeSpan? Next(List<DateTimeOffset> arrivals, DateTimeOffset time)
    {
        var index = arrivals.BinarySearch(time);
        if (index < 0) index = ~index;
        return index < arrivals.Count ? arrivals[index] - time : null;
    }
}
