namespace Esb.Topics.RabbitMq;

/// <summary>The names of an endpoint's queues.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Queue">Its queue, or the exchange before its lanes. What the other names begin with.</param>
/// <param name="AreOld">Whether they are those of release 0.1, which had no name of the configuration in them.</param>
internal sealed record EndpointNames(string Endpoint, string Queue, bool AreOld)
{
    /// <summary>What follows <see cref="Queue"/> in the other names, up to the next dot. No endpoint is called so.</summary>
    public static readonly IReadOnlySet<string> Parts = new HashSet<string> { "record", "keys", "lane", "retry", "migration" };

    /// <summary>The exchange that shares out messages without a slot among the lanes.</summary>
    public string Keys => $"{Queue}.keys";

    /// <summary>Keeps what we know of the queues.</summary>
    public string Record => $"{Queue}.record";

    /// <summary>What waited in the queues when their migration began.</summary>
    public string Backlog => $"{Queue}.migration.backlog";

    /// <summary>What is published for the endpoint while it is migrated.</summary>
    public string Meanwhile => $"{Queue}.migration.meanwhile";

    /// <summary>One of the queues that share the messages by their keys.</summary>
    public string Lane(int lane) => $"{Queue}.lane.{lane}";

    /// <summary>The lanes, or the one queue.</summary>
    public IEnumerable<string> Lanes(int? lanes) => lanes is { } count ? Enumerable.Range(0, count).Select(Lane) : [Queue];

    /// <summary>Where messages wait for their next attempt.</summary>
    public string Rung(TimeSpan delay) => $"{Queue}.retry.{(long)delay.TotalMilliseconds}";

    /// <summary>Whether messages wait in a queue for their next attempt.</summary>
    public bool IsRung(string queue) => queue.StartsWith($"{Queue}.retry.", StringComparison.Ordinal);
}
