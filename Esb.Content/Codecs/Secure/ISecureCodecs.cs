using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Codecs.Secure;

/// <summary>Decrypts and verifies bodies. Thread-safe.</summary>
internal interface ISecureDecoder
{
    /// <summary>Returns the message with what was signed or encrypted as its body.</summary>
    /// <exception cref="EsbException"><c>ESB-SECURE-…</c>.</exception>
    DecodedMessage Decode(EsbMessage message, CodecLimits limits);
}

/// <summary>Signs and encrypts bodies. Thread-safe.</summary>
internal interface ISecureEncoder
{
    /// <summary>Returns the message with its body signed, encrypted, or both.</summary>
    EsbMessage Encode(EsbMessage message);
}
