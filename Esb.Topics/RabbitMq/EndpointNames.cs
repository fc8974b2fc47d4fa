namespace Esb.Topics.RabbitMq;

/// <summary>The names of an endpoint's queues.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Queue">Its queue, or the exchange in front of its lanes; the prefix of the other names.</param>
/// <param name="AreOld">True for the names of release 0.1, which do not contain the name of the configuration.</param>
internal sealed record EndpointNames(string Endpoint, string Queue, bool AreOld)
{
    /// <summary>The parts that follow <see cref="Queue"/> in the other names, up to the next dot. No endpoint has such a name.</summary>
    public static readonly IReadOnlySet<string> Parts = new HashSet<string> { "record", "keys", "lane", "retry", "migration" };

    /// <summary>The exchange that distributes messages without a slot over the lanes.</summary>
    public string Keys => $"{Queue}.keys";

    /// <summary>The queue that holds the record of the endpoint's queues.</summary>
    public string Record => $"{Queue}.record";

    /// <summary>The queue for the messages that waited when the migration began.</summary>
    public string Backlog => $"{Queue}.migration.backlog";

    /// <summary>The queue for the messages that are published for the endpoint during its migration.</summary>
    public string Meanwhile => $"{Queue}.migration.meanwhile";

    /// <summary>Returns the name of a lane: one of the queues that share the messages by key.</summary>
    public string Lane(int lane) => $"{Queue}.lane.{lane}";

    /// <summary>Returns the names of the lanes, or of the one queue.</summary>
    public IEnumerable<string> Lanes(int? lanes) => lanes is { } count ? Enumerable.Range(0, count).Select(Lane) : [Queue];

    /// <summary>Returns the name of the queue where messages wait for their next attempt.</summary>
    public string Rung(TimeSpan delay) => $"{Queue}.retry.{(long)delay.TotalMilliseconds}";

    /// <summary>True if a queue is the one of the endpoint, or one beside it.</summary>
    public bool Has(string queue) => queue == Queue || Parts.Any(part => queue.StartsWith($"{Queue}.{part}", StringComparison.Ordinal));

    /// <summary>True if messages wait in a queue for their next attempt.</summary>
    public bool IsRung(string queue) => queue.StartsWith($"{Queue}.retry.", StringComparison.Ordinal);
}
