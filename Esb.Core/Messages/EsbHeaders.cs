namespace Esb.Core.Messages;

/// <summary>Headers that only the bus writes. They never cross a boundary to or from external systems.</summary>
public static class EsbHeaders
{
    /// <summary>The conversation's id.</summary>
    public const string Conversation = "esb-conversation";

    /// <summary>The order key.</summary>
    public const string Key = "esb-key";

    /// <summary>Attempts made so far.</summary>
    public const string Attempt = "esb-attempt";

    /// <summary>Number of times the message has left the bus and returned (<see cref="MessageHops"/>).</summary>
    public const string Hops = "esb-hops";

    /// <summary>The original id of a foreign message, if it is not a UUID.</summary>
    public const string SourceId = "esb-source-id";

    /// <summary>Replaces a body that is stored elsewhere: the ticket that redeems it.</summary>
    public const string Claim = "esb-claim";

    /// <summary>On a fault reply, its code; the body is then problem+json (RFC 9457).</summary>
    public const string Fault = "esb-fault";

    /// <summary>On an answer, a code: the endpoint recognised the message as applied before; the body holds the details.</summary>
    public const string Duplicate = "esb-duplicate";

    /// <summary>On a message of a call, the target of the endpoint to which it is sent.</summary>
    public const string Target = "esb-target";

    /// <summary>On an answer of HTTP, its status code; steps read it as the property <c>status</c>.</summary>
    public const string Status = "esb-status";

    /// <summary>On a message that a step of a process held: where it continues, and with which properties, as JSON. Travels only directly
    /// to the queue that continues it.</summary>
    public const string Held = "esb-held";

    /// <summary>On a message with an itinerary: its name, the position, and a signature. Travels only directly to the queue of the
    /// itinerary.</summary>
    public const string Itinerary = "esb-itinerary";

    /// <summary>True if a header travels with messages that the bus sends directly to the queue of an endpoint, and with no
    /// other.</summary>
    public static bool IsDirect(string name) => name is Held or Itinerary;
}
