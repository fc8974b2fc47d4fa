using System.Globalization;
using System.Security.Cryptography;
using Esb.Core.Messages;
using Esb.Topics.Farm;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Wire;

/// <summary>Tells messages that a host of this farm wrote from those that only say so. Thread-safe.</summary>
/// <remarks>
/// Proof is the publisher's name, for which the broker vouches, or a signature with the farm's key. Hosts of the version before sign
/// nothing, but name their user: their messages are believed. A host that can prove nothing, as the broker knows it by another name and the
/// farm has no key, believes what bypasses the topics, as that version did.
/// </remarks>
internal sealed class WireSignature(FarmKeys keys, BrokerUser user)
{
    /// <summary>The signature.</summary>
    public const string Header = "esb-signature";

    private static readonly string[] Signed =
    [
        WireHeaders.Kind,
        WireHeaders.Subject,
        WireHeaders.Party,
        EsbHeaders.Attempt,
        EsbHeaders.Key,
        WireHeaders.Failures,
        WireHeaders.DeadEndpoint,
        WireHeaders.DeadCode,
        WireHeaders.DeadReason,
        WireHeaders.DeadAttempts,
        WireHeaders.DeadFirst,
        WireHeaders.DeadLast,
    ];

    // Only where they are present, so that hosts of the version before agree on all other messages.
    private static readonly string[] Direct = [EsbHeaders.Held, EsbHeaders.Itinerary];

    /// <summary>True if our own user published the message, or a host of this farm has signed it.</summary>
    public bool IsOurs(IReadOnlyBasicProperties properties, ReadOnlySpan<byte> body) =>
        user.IsPublisherOf(properties)
        || (properties.Headers.Text(Header) is { } signature && keys.Signed(ContentOf(properties, body).Bytes, signature));

    /// <summary>As <see cref="IsOurs"/>, for a message that bypassed the topics.</summary>
    public bool IsBelieved(IReadOnlyBasicProperties properties, ReadOnlySpan<byte> body) =>
        (user.Name is null && !keys.Any) || IsOurs(properties, body);

    /// <summary>Signs what bypasses the topics, and all that is published while the broker does not vouch for this host.</summary>
    public BasicProperties Sign(BasicProperties properties, ReadOnlySpan<byte> body)
    {
        if (!keys.Any || properties.Headers is not { } headers || !(user.Name is null || headers.ContainsKey(WireHeaders.Subject)))
            return properties;
        headers[Header] = keys.Sign(ContentOf(properties, body).Bytes);
        return properties;
    }

    private static SignedContent ContentOf(IReadOnlyBasicProperties properties, ReadOnlySpan<byte> body)
    {
        var content = new SignedContent().Add(properties.MessageId);
        foreach (var name in Signed)
            content.Add(properties.Headers.Text(name) ?? properties.Headers.Number(name)?.ToString(CultureInfo.InvariantCulture));
        foreach (var name in Direct)
        {
            if (properties.Headers.Text(name) is { } text)
                content.Add(name).Add(text);
        }

        Span<byte> digest = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(body, digest);
        return content.Add(digest);
    }
}
