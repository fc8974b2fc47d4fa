namespace SideBySide.Topics;

/// <summary>Where an AMQP client publishes to.</summary>
internal sealed record Address(string Exchange, string RoutingKey);
