using Esb.Core.Endpoints;

namespace Esb.Core.Processes;

/// <summary>What inbound endpoints do before the process or the publish, such as recognising repetitions. Thread-safe.</summary>
public interface IEntryGates
{
    /// <summary>The process or the publish of an endpoint, behind its gate; the same if the endpoint has none.</summary>
    MessageStep Before(InboundEndpointConfig endpoint, MessageStep run);
}
