namespace Esb.Core.Endpoints;

/// <summary>The queue in which messages continue that steps of a process, or an itinerary, held: an endpoint that the bus adds by itself.
/// Keys keep their order.</summary>
/// <remarks>No configuration names it; operators tune, pause and replay it like any other.</remarks>
public sealed record HeldEndpointConfig : OutboundEndpointConfig
{
    private const int AtOnce = 32;

    /// <summary>Creates the settings.</summary>
    /// <param name="name">Name of the queue (<see cref="Processes.HeldQueues"/>).</param>
    /// <param name="process">The process, or the itinerary, that continues there.</param>
    /// <param name="path">Path of what continues there, for errors.</param>
    public HeldEndpointConfig(string name, string process, string path)
    {
        (Name, Path, Processes) = (name, path, [process]);
        (Delivery, PoolSize, ProcessingThreads) = (DeliveryMode.OrderedByKey, AtOnce, AtOnce);
    }

    /// <summary>What continues there may publish: topics in memory count a message as settled only once that is settled, too.</summary>
    public override IReadOnlyList<string> Processes { get; }

    /// <inheritdoc/>
    public override bool HasQueue => true;
}
