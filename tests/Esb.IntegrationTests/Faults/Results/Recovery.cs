using System.Globalization;
using Esb.IntegrationTests.Faults.Ledgers;
using Esb.IntegrationTests.Faults.Nemeses;
using Esb.IntegrationTests.Faults.Sinks;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>How long it took from each fault, or its end, until the next message arrived anywhere; while there is something that can
/// arrive.</summary>
internal sealed record Recovery(IReadOnlyList<TimeSpan> Times)
{
    /// <summary>95 % were at least as quick.</summary>
    public TimeSpan Slowest95 => Times.Count == 0 ? TimeSpan.Zero : Times.Order().ElementAt((int)Math.Ceiling(Times.Count * 0.95) - 1);

    /// <summary>The slowest of all.</summary>
    public TimeSpan Slowest => Times.DefaultIfEmpty().Max();

    /// <summary>From the end of each fault.</summary>
    public static async Task<Recovery> MeasureAsync(
        IReadOnlyList<Strike> strikes,
        IReadOnlyList<ISink> sinks,
        IEnumerable<SentMessage> sent,
        CancellationToken cancellationToken
    ) => From(strikes.Select(strike => strike.HealedAt), await Arrivals.ReadAsync(sinks, sent, cancellationToken), strikes);

    /// <summary>From each fault of a host until messages arrived again at every endpoint: whichever it worked for, another one
    /// does.</summary>
    public static async Task<Recovery> MeasureFailOverAsync(
        IReadOnlyList<Strike> strikes,
        IReadOnlyList<ISink> sinks,
        IReadOnlyCollection<SentMessage> sent,
        CancellationToken cancellationToken
    )
    {
        var underWay = TimeSpan.FromSeconds(1); // what the host had sent may still arrive, and says nothing
        var struck = strikes
            .Where(strike => strike.Name.Contains("host", StringComparison.Ordinal))
            .Select(strike => strike.StruckAt + underWay)
            .ToList();
        var times = new List<TimeSpan>();
        foreach (var sink in sinks)
            times.AddRange(
                From(struck, await Arrivals.ReadAsync([sink], sent, cancellationToken), strikes).Times.Select(time => time + underWay)
            );
        return new Recovery(times);
    }

    /// <summary>The same for the senders: until the next message was accepted.</summary>
    public static Recovery OfSenders(IReadOnlyList<Strike> strikes, IEnumerable<SentMessage> sent)
    {
        var confirms = sent.Where(message => message.Outcome == SendOutcome.Confirmed)
            .Select(message => message.OutcomeAt)
            .OfType<DateTimeOffset>()
            .ToList();
        var next = strikes.Select(strike =>
            confirms.Where(time => time >= strike.HealedAt).Select(time => (TimeSpan?)(time - strike.HealedAt)).Min()
        );
        return new Recovery([.. next.OfType<TimeSpan>()]);
    }

    public override string ToString() =>
        Times.Count == 0
            ? "–"
            : string.Create(
                CultureInfo.InvariantCulture,
                $"p95 {Slowest95.TotalSeconds:0.0} s "
                    + $"({string.Join(", ", Times.Select(time => FormattableString.Invariant($"{time.TotalSeconds:0.0}")))})"
            );

    private static Recovery From(IEnumerable<DateTimeOffset> moments, Arrivals arrivals, IReadOnlyList<Strike> strikes) =>
        new([.. moments.Select(moment => arrivals.Next(Possible(moment, arrivals, strikes))).OfType<TimeSpan>()]);

    // The moment, or the next one from which something can arrive: something waits, and the broker is there, without which nothing arrives.
    private static DateTimeOffset Possible(DateTimeOffset moment, Arrivals arrivals, IReadOnlyList<Strike> strikes)
    {
        moment = arrivals.Awaited(moment);
        while (
            strikes.FirstOrDefault(strike =>
                IsOfBroker(strike) && moment < strike.HealedAt && strike.StruckAt <= moment + (arrivals.Next(moment) ?? TimeSpan.Zero)
            )
                is { } away
        )
            moment = arrivals.Awaited(away.HealedAt);
        return moment;
    }

    private static bool IsOfBroker(Strike strike) => strike.Name.Contains("rabbitmq", StringComparison.Ordinal);
}
