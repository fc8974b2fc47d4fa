namespace Esb.Core.Messages;

/// <summary>Headers that only the bus writes. They never cross a boundary to or from the outside.</summary>
public static class EsbHeaders
{
    /// <summary>The conversation's id.</summary>
    public const string Conversation = "esb-conversation";

    /// <summary>The order key.</summary>
    public const string Key = "esb-key";

    /// <summary>Attempts made so far.</summary>
    public const string Attempt = "esb-attempt";

    /// <summary>How often the message has left the bus and come back (<see cref="MessageHops"/>).</summary>
    public const string Hops = "esb-hops";

    /// <summary>The id that a foreign message came with, where it is no UUID.</summary>
    public const string SourceId = "esb-source-id";

    /// <summary>In the place of a body that is kept elsewhere, what it is redeemed with.</summary>
    public const string Claim = "esb-claim";

    /// <summary>On a reply that is a fault, its code; the body is then problem+json (RFC 9457).</summary>
    public const string Fault = "esb-fault";

    /// <summary>On an answer, that the endpoint recognised the message as one it had applied before: a code; the body then says more.</summary>
    public const string Duplicate = "esb-duplicate";

    /// <summary>On a message of a call, which of the endpoint's targets it goes to.</summary>
    public const string Target = "esb-target";

    /// <summary>On an answer of HTTP, its status code; steps find it as the property <c>status</c>.</summary>
    public const string Status = "esb-status";
}
