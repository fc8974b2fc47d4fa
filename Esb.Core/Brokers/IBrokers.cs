namespace Esb.Core.Brokers;

/// <summary>Opens connections of endpoints to their brokers. Thread-safe.</summary>
/// <remarks>Each publisher and each reader has a connection of its own, which reconnects by itself: an alarm, a lost connection or a
/// missing right at one endpoint does not affect another.</remarks>
public interface IBrokers
{
    /// <summary>Creates a publisher, which connects in the background.</summary>
    /// <param name="settings">The broker.</param>
    /// <param name="endpoint">The endpoint's name, shown by the broker.</param>
    /// <param name="layout">Applied to each new connection before any other use.</param>
    IBrokerPublisher CreatePublisher(IBrokerSettings settings, string endpoint, BrokerLayout layout);

    /// <summary>Creates a reader; it is idle until it is started.</summary>
    IBrokerReader CreateReader(IBrokerSettings settings, BrokerReading reading);

    /// <summary>True if an exchange or a queue of this name belongs to the bus itself.</summary>
    bool IsOurs(string name);
}
