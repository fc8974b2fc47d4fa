using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>What we know of an endpoint's queues, as AMQP can list neither their arguments nor their bindings.</summary>
/// <param name="Shape">How they were made.</param>
/// <param name="Generations">The patterns of each configuration that has bound them and may still be bound, the newest last.</param>
internal sealed record EndpointRecord(QueueShape Shape, IReadOnlyList<IReadOnlyList<string>> Generations)
{
    private const int MostGenerations = 10;

    public static EndpointRecord Of(Subscription subscription) => new(QueueShape.Of(subscription), [PatternsOf(subscription)]);

    public static IReadOnlyList<string> PatternsOf(Subscription subscription) => [.. subscription.Patterns.Select(pattern => pattern.Value).Distinct().Order(StringComparer.Ordinal)];

    /// <summary>What may be bound.</summary>
    public IReadOnlySet<string> Bound => Generations.SelectMany(patterns => patterns).ToHashSet();

    /// <summary>Whether the patterns are those of the newest configuration; an older one may still run, or run again.</summary>
    public bool IsNewest(IReadOnlyList<string> patterns) => Generations.Count > 0 && Generations[^1].SequenceEqual(patterns);

    /// <summary>Also with patterns, as the newest unless they were known before.</summary>
    public EndpointRecord With(IReadOnlyList<string> patterns) =>
        Generations.Any(known => known.SequenceEqual(patterns)) ? this : this with { Generations = [.. Generations.TakeLast(MostGenerations - 1), patterns] };
}
