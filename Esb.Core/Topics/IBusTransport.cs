namespace Esb.Core.Topics;

/// <summary>Everything that the hosts of a bus share by one transport. Thread-safe.</summary>
public interface IBusTransport : ITopicTransport, IEndpointQueues
{
    /// <summary>The messages that no endpoint subscribed to.</summary>
    IUnroutableMessages Unroutable { get; }

    /// <summary>The other hosts; null where it reaches none.</summary>
    IFarm? Farm => null;
}

/// <summary>Makes the transport of one kind, which the type of the section <c>transport</c> chooses.</summary>
/// <param name="Settings">The settings record of the kind.</param>
/// <param name="Create">Makes it; no connection is opened yet.</param>
public sealed record TransportFactory(Type Settings, Func<IServiceProvider, TransportConfig, IBusTransport> Create);
