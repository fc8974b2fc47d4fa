namespace Esb.Content.Codecs.Secure;

/// <summary>How a body has to be secured.</summary>
public enum SecurityDemand
{
    /// <summary>Signed by somebody who is trusted.</summary>
    Signed,

    /// <summary>Encrypted.</summary>
    Encrypted,

    /// <summary>Signed and encrypted.</summary>
    Both,
}
