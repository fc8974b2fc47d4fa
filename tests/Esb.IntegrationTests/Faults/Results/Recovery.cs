using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>How long it took from each fault, or its end, until the next message arrived anywhere.</summary>
internal sealed record Recovery(IReadOnlyList<TimeSpan> Times)
{
    /// <summary>95 % were at least as quick.</summary>
    public TimeSpan Slowest95 => Times.Count == 0 ? TimeSpan.Zero : Times.Order().ElementAt((int)Math.Ceiling(Times.Count * 0.95) - 1);

    /// <summary>The slowest of all.</summary>
    public TimeSpan Slowest => Times.DefaultIfEmpty().Max();

    /// <summary>From the end of each fault.</summary>
    public static async Task<Recovery> MeasureAsync(IReadOnlyList<Strike> strikes, IReadOnlyList<ISink> sinks, CancellationToken cancellationToken) =>
        From(strikes.Select(strike => strike.HealedAt), await ReadArrivalsAsync(sinks, cancellationToken), strikes);

    /// <summary>From each fault of a host until messages arrived again at every endpoint: whichever it worked for, another one does.</summary>
    public static async Task<Recovery> MeasureFailOverAsync(IReadOnlyList<Strike> strikes, IReadOnlyList<ISink> sinks, CancellationToken cancellationToken)
    {
        var underWay = TimeSpan.FromSeconds(1); // what the host had sent may still arrive, and says nothing
        var struck = strikes.Where(strike => strike.Name.Contains("host", StringComparison.Ordinal)).Select(strike => strike.StruckAt + underWay).ToList();
        var times = new List<TimeSpan>();
        foreach (var sink in sinks) times.AddRange(From(struck, await ReadArrivalsAsync([sink], cancellationToken), strikes).Times.Select(time => time + underWay));
        return new Recovery(times);
    }

    /// <summary>The same for the senders: until the next message was accepted.</summary>
    public static Recovery OfSenders(IReadOnlyList<Strike> strikes, IEnumerable<SentMessage> sent)
    {
        var confirms = sent.Where(message => message.Outcome == SendOutcome.Confirmed && message.OutcomeAt is not null).Select(message => message.OutcomeAt!.Value).Order().ToList();
        return new Recovery([.. strikes.Select(strike => Next(confirms, strike.HealedAt)).Where(time => time is not null).Select(time => time!.Value)]);
    }

    public override string ToString() => Times.Count == 0 ? "–" : FormattableString.Invariant($"p95 {Slowest95.TotalSeconds:0.0} s ({string.Join(", ", Times.Select(time => FormattableString.Invariant($"{time.TotalSeconds:0.0}")))})");

    private static async Task<List<DateTimeOffset>> ReadArrivalsAsync(IEnumerable<ISink> sinks, CancellationToken cancellationToken)
    {
        var arrivals = new List<DateTimeOffset>();
        foreach (var sink in sinks) arrivals.AddRange((await sink.ReadAsync(cancellationToken)).Select(entry => entry.At));
        arrivals.Sort();
        return arrivals;
    }

    private static Recovery From(IEnumerable<DateTimeOffset> moments, List<DateTimeOffset> arrivals, IReadOnlyList<Strike> strikes) =>
        new([.. moments.Select(moment => Next(arrivals, WithBroker(moment, arrivals, strikes))).Where(time => time is not null).Select(time => time!.Value)]);

    // The moment, or the broker's return where that was away before anything arrived: nothing arrives without it.
    private static DateTimeOffset WithBroker(DateTimeOffset moment, List<DateTimeOffset> arrivals, IReadOnlyList<Strike> strikes)
    {
        while (strikes.FirstOrDefault(strike => IsOfBroker(strike) && moment < strike.HealedAt && strike.StruckAt <= moment + (Next(arrivals, moment) ?? TimeSpan.Zero)) is { } away) moment = away.HealedAt;
        return moment;
    }

    private static bool IsOfBroker(Strike strike) => strike.Name.Contains("rabbitmq", StringComparison.Ordinal);

    // Null after the last message: nothing was left to recover with.
    private static TimeSpan? Next(List<DateTimeOffset> arrivals, DateTimeOffset time)
    {
        var index = arrivals.BinarySearch(time);
        if (index < 0) index = ~index;
        return index < arrivals.Count ? arrivals[index] - time : null;
    }
}
