using System.Security.Cryptography;
using Esb.Core.Messages;

namespace Esb.Endpoints.Sql;

/// <summary>The record of a message in the transaction of its effect, by which an endpoint recognises a redelivery (pattern: Idempotent
/// Receiver).</summary>
/// <param name="Bus">The configuration's name: another configuration may have an endpoint of the same name.</param>
/// <param name="Endpoint">The endpoint; each endpoint applies a message separately.</param>
/// <param name="MessageId">Equal at every delivery of the message.</param>
/// <param name="BodyHash">SHA-256, which distinguishes a copy from another message of the same id.</param>
internal sealed record MessageClaim(string Bus, string Endpoint, Guid MessageId, byte[] BodyHash)
{
    /// <summary>Creates the claim of an endpoint on a message with a buffered body.</summary>
    public static MessageClaim Of(string bus, string endpoint, EsbMessage message) =>
        new(bus, endpoint, message.Id, SHA256.HashData(message.Body.Bytes.Span));
}
