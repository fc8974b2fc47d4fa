namespace Esb.Core.Brokers;

/// <summary>A message as AMQP 0-9-1 carries it. Immutable.</summary>
public sealed record BrokerMessage
{
    private static readonly IReadOnlyDictionary<string, string> NoHeaders = new Dictionary<string, string>();

    /// <summary>The exchange; empty to address a queue by its name.</summary>
    public string Exchange { get; init; } = "";

    /// <summary>The routing key: the name of the queue if the exchange is empty.</summary>
    public string RoutingKey { get; init; } = "";

    /// <summary>The body.</summary>
    public ReadOnlyMemory<byte> Body { get; init; }

    /// <summary>The media type; null if none.</summary>
    public string? ContentType { get; init; }

    /// <summary>The sender's id; null if none.</summary>
    public string? MessageId { get; init; }

    /// <summary>The correlation id; null if none.</summary>
    public string? CorrelationId { get; init; }

    /// <summary>The queue that an answer is expected in; null if none.</summary>
    public string? ReplyTo { get; init; }

    /// <summary>The time at which it was sent; null if unknown. The broker keeps seconds.</summary>
    public DateTimeOffset? Timestamp { get; init; }

    /// <summary>The time after which the broker drops it; null for never.</summary>
    public TimeSpan? TimeToLive { get; init; }

    /// <summary>True if it survives a restart of the broker in a durable queue.</summary>
    public bool IsPersistent { get; init; } = true;

    /// <summary>True if the outcome of the publish is <see cref="BrokerResult.Unroutable"/> where no queue takes it.</summary>
    public bool IsMandatory { get; init; }

    /// <summary>The headers, with text values. Tables and lists are not read.</summary>
    public IReadOnlyDictionary<string, string> Headers { get; init; } = NoHeaders;

    /// <summary>Returns a header of exactly this name; null if absent.</summary>
    public string? Header(string name) => Headers.GetValueOrDefault(name);
}
