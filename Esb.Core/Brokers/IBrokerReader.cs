namespace Esb.Core.Brokers;

/// <summary>Reads a queue of a broker, on each new connection again, until it is stopped. Thread-safe.</summary>
public interface IBrokerReader : IAsyncDisposable
{
    /// <summary>The reason why the queue is not being read, brief, beginning with a code if there is one; null if it is, or
    /// rests.</summary>
    string? Reason { get; }

    /// <summary>Starts to read; returns once the first attempt was made, or after a few seconds.</summary>
    Task StartAsync(CancellationToken cancellationToken);

    /// <summary>Stops reading, returns what waits to the queue, and waits for deliveries in progress until the token is
    /// cancelled.</summary>
    Task StopAsync(CancellationToken cancellationToken);
}

/// <summary>The reading of a queue.</summary>
/// <param name="Endpoint">The endpoint's name, shown by the broker.</param>
/// <param name="Layout">Applied to each new connection; its queue is read.</param>
/// <param name="Prefetch">The most deliveries that are here and unacknowledged, from 1 to 65,535.</param>
/// <param name="Concurrency">Deliveries handled at once. With 1 they are handled in the order of the queue.</param>
/// <param name="Handle">Handles a delivery; does not throw. Its token is cancelled when the reader no longer waits for it.</param>
public sealed record BrokerReading(
    string Endpoint,
    BrokerLayout Layout,
    int Prefetch,
    int Concurrency,
    Func<QueueDelivery, CancellationToken, ValueTask<DeliveryVerdict>> Handle
)
{
    /// <summary>Waits until deliveries can be handled; while it waits, none is here. Null for always.</summary>
    public Func<CancellationToken, ValueTask>? WaitForOpening { get; init; }
}

/// <summary>A delivery.</summary>
/// <param name="Message">The message, with a private copy of its body.</param>
/// <param name="IsRedelivered">True if the broker has delivered it before.</param>
public sealed record QueueDelivery(BrokerMessage Message, bool IsRedelivered)
{
    /// <summary>The number of earlier attempts to handle it on this connection.</summary>
    public int Failures { get; init; }
}

/// <summary>What becomes of a delivery.</summary>
public enum DeliveryVerdict
{
    /// <summary>It is acknowledged.</summary>
    Done,

    /// <summary>It is handled again after a pause, which grows; the broker keeps it.</summary>
    Again,

    /// <summary>All unacknowledged deliveries return to the queue, until <see cref="BrokerReading.WaitForOpening"/> opens.</summary>
    Rest,
}
