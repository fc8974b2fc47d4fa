namespace Esb.Core.Endpoints;

/// <summary>Outbound endpoints that a part adds to those of the configuration, such as the queue in which a process continues. Used in the
/// compile phase.</summary>
public interface IAddedEndpoints
{
    /// <summary>Their settings; each name has a colon, which no name of the configuration has.</summary>
    IEnumerable<OutboundEndpointConfig> Configs { get; }
}
