using Esb.Core.Errors;

namespace Esb.Content.Codecs.Secure;

/// <summary>Failures of signed and encrypted bodies.</summary>
internal static class SecureFaults
{
    /// <summary>The body is not of the format.</summary>
    public static EsbException Format(string what, Exception? cause = null) =>
        new("ESB-SECURE-FORMAT", $"The body cannot be decoded: {what}.", FaultKind.Malformed, cause);

    /// <summary>The body cannot be decrypted.</summary>
    public static EsbException Key(string what, Exception? cause = null) =>
        new("ESB-SECURE-KEY", $"The body cannot be decrypted: {what}.", FaultKind.Invalid, cause);

    /// <summary>The body is not secured as it has to be.</summary>
    public static EsbException Required(string what) => new("ESB-SECURE-REQUIRED", $"The body is refused: {what}.", FaultKind.Invalid);

    /// <summary>The signature does not fit the content.</summary>
    public static EsbException Signature(string what, Exception? cause = null) =>
        new("ESB-SECURE-SIGNATURE", $"The signature is refused: {what}.", FaultKind.Invalid, cause);

    /// <summary>The signer is not trusted.</summary>
    public static EsbException Signer(string what) => new("ESB-SECURE-SIGNER", $"The signer is refused: {what}.", FaultKind.Invalid);
}
