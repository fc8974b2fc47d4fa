using System.Security.Cryptography;
using Esb.Core.Messages;

namespace Esb.Endpoints.Sql;

/// <summary>What an endpoint records of a message in the transaction of its effect, to recognise it when it comes again (pattern: Idempotent Receiver).</summary>
/// <param name="Bus">The configuration: another one may have an endpoint of the same name.</param>
/// <param name="Endpoint">Each endpoint applies a message for itself.</param>
/// <param name="MessageId">The same at every delivery of the message.</param>
/// <param name="BodyHash">SHA-256, which tells a copy from another message of the same id.</param>
internal sealed record MessageClaim(string Bus, string Endpoint, Guid MessageId, byte[] BodyHash)
{
    /// <summary>The claim of an endpoint on a message with a buffered body.</summary>
    public static MessageClaim Of(string bus, string endpoint, EsbMessage message) => new(bus, endpoint, message.Id, SHA256.HashData(message.Body.Bytes.Span));
}
