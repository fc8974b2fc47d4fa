using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Sending;

/// <summary>Counts how often a message has left the bus, over HTTP in the field <c>Via</c>.</summary>
internal static class OutgoingHops
{
    /// <summary>The value of the field for a message that leaves once more.</summary>
    /// <exception cref="EndpointException"><see cref="MessageHops.Code"/>: it has left too often.</exception>
    public static string ViaOf(string endpoint, EsbMessage message)
    {
        var hops = MessageHops.Of(message);
        if (hops < MessageHops.Most)
            return ViaField.Of(hops + 1);
        throw new EndpointException(
            endpoint,
            MessageHops.Code,
            $"The message has left the bus {hops} times and come back: it is routed in a circle.",
            isTransient: false,
            kind: FaultKind.Internal
        )
        {
            Status = StatusCodes.Status508LoopDetected,
            IsUnsent = true,
        };
    }
}
