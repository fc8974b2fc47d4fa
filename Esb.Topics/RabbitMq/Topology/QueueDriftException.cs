namespace Esb.Topics.RabbitMq.Topology;

/// <summary>What exists on the broker differs from what the configuration wants, in something that only a migration changes.</summary>
internal sealed class QueueDriftException(string message, Exception? inner = null) : Exception(message, inner);
