using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Delivery.Processes;

/// <summary>An endpoint without an external system: it runs a process on each message of its subscriptions.</summary>
internal sealed record ProcessEndpointConfig : OutboundEndpointConfig
{
    [Setting("The process that each message runs through; of a request, the message at its end is the reply.", Reference = "processes")]
    public override required string? Process { get; init; }

    /// <summary>No processes: its instances run the process themselves.</summary>
    public override string? PreparedBy => null;

    /// <inheritdoc/>
    public override bool Answers => true;
}
