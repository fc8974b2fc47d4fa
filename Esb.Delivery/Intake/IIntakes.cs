using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Delivery.Intake;

/// <summary>Creates intakes for endpoints whose messages go to several processes.</summary>
public interface IIntakes
{
    /// <summary>Creates an intake.</summary>
    /// <param name="config">The endpoint, with the process or the subject of these messages.</param>
    /// <param name="afterwards">Runs behind the process or the publish, on what its sender gets; null for nothing.</param>
    IMessageIntake Create(InboundEndpointConfig config, MessageStep? afterwards = null);
}
