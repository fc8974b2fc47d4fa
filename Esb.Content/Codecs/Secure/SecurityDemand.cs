namespace Esb.Content.Codecs.Secure;

/// <summary>How a body has to be secured.</summary>
public enum SecurityDemand
{
    /// <summary>The message must carry the signature of a trusted certificate.</summary>
    Signed,

    /// <summary>Encrypted.</summary>
    Encrypted,

    /// <summary>Signed and encrypted.</summary>
    Both,
}
