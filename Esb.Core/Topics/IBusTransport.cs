namespace Esb.Core.Topics;

/// <summary>Services that the hosts of a bus share over one transport. Thread-safe.</summary>
public interface IBusTransport : ITopicTransport, IEndpointQueues, IReplyAddresses
{
    /// <summary>Messages to which no endpoint subscribed.</summary>
    IUnroutableMessages Unroutable { get; }

    /// <summary>The other hosts; null if the transport reaches none.</summary>
    IFarm? Farm => null;
}

/// <summary>Creates the transport of one kind, which the type of the section <c>transport</c> selects.</summary>
/// <param name="Settings">The settings record of the kind.</param>
/// <param name="Create">Creates it; opens no connection.</param>
public sealed record TransportFactory(Type Settings, Func<IServiceProvider, TransportConfig, IBusTransport> Create);
