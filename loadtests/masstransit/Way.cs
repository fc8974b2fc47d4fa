namespace MassTransitLoad;

/// <summary>Where messages are put, and where they arrive.</summary>
/// <param name="Exchange">The exchange.</param>
/// <param name="RoutingKey">The routing key.</param>
/// <param name="Queue">The queue that takes them; null if they are only counted.</param>
/// <param name="IsEnveloped">Whether they are in an envelope of MassTransit.</param>
public record Way(string Exchange, string RoutingKey, string? Queue, bool IsEnveloped);
