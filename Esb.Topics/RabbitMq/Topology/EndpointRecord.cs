using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>The recorded state of an endpoint's queues, as AMQP can list neither their arguments nor their bindings.</summary>
/// <param name="Shape">The settings with which the queues were created.</param>
/// <param name="Generations">The patterns of each configuration that has bound them and that may still be bound, the newest last.</param>
internal sealed record EndpointRecord(QueueShape Shape, IReadOnlyList<IReadOnlyList<string>> Generations)
{
    /// <summary>The retry delays, in milliseconds, for which queues exist.</summary>
    public IReadOnlyList<long> Delays { get; init; } = [];

    /// <summary>The name of the configuration that owns the queues; null if only hosts of release 0.1 have written the record.</summary>
    public string? Owner { get; init; }

    /// <summary>True if a migration has begun and is not finished: no host may consume.</summary>
    public bool IsMigrating { get; init; }

    /// <summary>True if that migration gives the queues the names of this release.</summary>
    public bool IsMoving { get; init; }

    /// <summary>True if that move is finished. Hosts of release 0.1 take it for an unfinished migration, and do not create the queues
    /// anew.</summary>
    public bool IsMoved { get; init; }

    /// <summary>True if the migration has deleted the earlier queues.</summary>
    public bool IsEmptied { get; init; }

    private const int MostGenerations = 10;

    public static EndpointRecord Of(Subscription subscription) => new(QueueShape.Of(subscription), []);

    public static IReadOnlyList<string> PatternsOf(Subscription subscription) =>
        [.. subscription.Patterns.Select(pattern => pattern.Value).Distinct().Order(StringComparer.Ordinal)];

    /// <summary>The patterns that may be bound.</summary>
    public IReadOnlySet<string> Bound => Generations.SelectMany(patterns => patterns).ToHashSet();

    /// <summary>True if the patterns are those of the newest configuration; an older one may still run, or run again.</summary>
    public bool IsNewest(IReadOnlyList<string> patterns) => Generations.Count > 0 && Generations[^1].SequenceEqual(patterns);

    /// <summary>Returns the record extended by a subscription; its patterns become the newest unless they are already recorded.</summary>
    public EndpointRecord With(Subscription subscription)
    {
        var patterns = PatternsOf(subscription);
        var delays = subscription.RetryDelays.Select(delay => (long)delay.TotalMilliseconds).Except(Delays).ToList();
        return this with
        {
            Shape = QueueShape.Of(subscription),
            Generations = Generations.Any(known => known.SequenceEqual(patterns))
                ? Generations
                : [.. Generations.TakeLast(MostGenerations - 1), patterns],
            Delays = delays.Count == 0 ? Delays : [.. Delays, .. delays],
        };
    }

    /// <summary>True if both have the same content with the same lists.</summary>
    public bool Says(EndpointRecord other) =>
        Shape == other.Shape
        && Owner == other.Owner
        && IsMigrating == other.IsMigrating
        && ReferenceEquals(Generations, other.Generations)
        && ReferenceEquals(Delays, other.Delays);
}
