using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>What we know of an endpoint's queues, as AMQP can list neither their arguments nor their bindings.</summary>
/// <param name="Shape">How they were made.</param>
/// <param name="Generations">The patterns of each configuration that has bound them and may still be bound, the newest last.</param>
internal sealed record EndpointRecord(QueueShape Shape, IReadOnlyList<IReadOnlyList<string>> Generations)
{
    /// <summary>The delays of retries, in milliseconds, that queues were made for.</summary>
    public IReadOnlyList<long> Delays { get; init; } = [];

    /// <summary>The name of the configuration that has the queues; null where only hosts of release 0.1 have written.</summary>
    public string? Owner { get; init; }

    /// <summary>Whether a migration has begun that is not finished: nobody may consume.</summary>
    public bool IsMigrating { get; init; }

    /// <summary>Whether that migration gives the queues the names of this release.</summary>
    public bool IsMoving { get; init; }

    /// <summary>Whether that is done. Hosts of release 0.1 take it for a migration that is not finished, and do not make the queues
    /// anew.</summary>
    public bool IsMoved { get; init; }

    /// <summary>Whether it has come so far that the earlier queues are gone.</summary>
    public bool IsEmptied { get; init; }

    private const int MostGenerations = 10;

    public static EndpointRecord Of(Subscription subscription) => new(QueueShape.Of(subscription), []);

    public static IReadOnlyList<string> PatternsOf(Subscription subscription) =>
        [.. subscription.Patterns.Select(pattern => pattern.Value).Distinct().Order(StringComparer.Ordinal)];

    /// <summary>What may be bound.</summary>
    public IReadOnlySet<string> Bound => Generations.SelectMany(patterns => patterns).ToHashSet();

    /// <summary>Whether the patterns are those of the newest configuration; an older one may still run, or run again.</summary>
    public bool IsNewest(IReadOnlyList<string> patterns) => Generations.Count > 0 && Generations[^1].SequenceEqual(patterns);

    /// <summary>Also with what a subscription wants; its patterns become the newest unless they were known before.</summary>
    public EndpointRecord With(Subscription subscription)
    {
        var patterns = PatternsOf(subscription);
        var delays = subscription.RetryDelays.Select(delay => (long)delay.TotalMilliseconds).Except(Delays).ToList();
        return this with
        {
            Shape = QueueShape.Of(subscription),
            Generations = Generations.Any(known => known.SequenceEqual(patterns)) ? Generations : [.. Generations.TakeLast(MostGenerations - 1), patterns],
            Delays = delays.Count == 0 ? Delays : [.. Delays, .. delays],
        };
    }

    /// <summary>Whether both say the same of the same lists.</summary>
    public bool Says(EndpointRecord other) =>
        Shape == other.Shape && Owner == other.Owner && IsMigrating == other.IsMigrating
        && ReferenceEquals(Generations, other.Generations) && ReferenceEquals(Delays, other.Delays);
}
