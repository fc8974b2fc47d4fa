namespace Esb.Core.Brokers;

/// <summary>The exchanges, queues and bindings that an endpoint uses. What exists is looked at first, and never changed.</summary>
public sealed record BrokerLayout
{
    /// <summary>Nothing is needed.</summary>
    public static readonly BrokerLayout Empty = new();

    /// <summary>The exchanges.</summary>
    public IReadOnlyList<BrokerExchange> Exchanges { get; init; } = [];

    /// <summary>The queue; null for none.</summary>
    public BrokerQueue? Queue { get; init; }

    /// <summary>The bindings.</summary>
    public IReadOnlyList<BrokerBinding> Bindings { get; init; } = [];

    /// <summary>Bindings of an earlier configuration, which are removed; a missing one is no error.</summary>
    public IReadOnlyList<BrokerBinding> Unbindings { get; init; } = [];
}

/// <summary>An exchange.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Kind">Its kind (<c>fanout</c>, <c>topic</c>, <c>direct</c>, <c>headers</c>); null if any is good.</param>
public sealed record BrokerExchange(string Name, string? Kind = null)
{
    /// <summary>True if it is made when it is missing; then it has a kind.</summary>
    public bool IsMade { get; init; }

    /// <summary>True if it is neither durable nor kept once nothing is bound to it any more.</summary>
    public bool IsTemporary { get; init; }
}

/// <summary>A queue.</summary>
/// <param name="Name">Its name.</param>
public sealed record BrokerQueue(string Name)
{
    /// <summary>True if it is made when it is missing, durable and with the broker's defaults.</summary>
    public bool IsMade { get; init; }

    /// <summary>True if the broker removes it when it has not been read for five minutes, so that it outlives a lost connection.</summary>
    public bool IsTemporary { get; init; }
}

/// <summary>A binding.</summary>
/// <param name="Source">The exchange that messages come from.</param>
/// <param name="Target">The queue or the exchange that they go to.</param>
/// <param name="RoutingKey">The routing key; empty for a fanout exchange.</param>
/// <param name="IsToQueue">True if the target is a queue.</param>
public sealed record BrokerBinding(string Source, string Target, string RoutingKey, bool IsToQueue);
