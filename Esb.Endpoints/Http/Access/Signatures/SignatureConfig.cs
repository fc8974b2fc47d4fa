using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Http.Access.Signatures;

/// <summary>The encoding of the 32 bytes of a signature.</summary>
internal enum SignatureEncoding
{
    /// <summary>64 hexadecimal digits.</summary>
    Hex,

    /// <summary>Base64 (RFC 4648, section 4).</summary>
    Base64,
}

/// <summary>The format of signed requests (HMAC-SHA256), as used by the webhooks of many services.</summary>
internal sealed record SignatureConfig : SettingsRecord
{
    public const string Body = "{body}";
    public const string Timestamp = "{timestamp}";

    [Setting("The header with the signature.")]
    public string Header { get; init; } = "X-Signature";

    [Setting("What stands before the signature in its header.")]
    public string Prefix { get; init; } = "sha256=";

    [Setting("How the signature is written.")]
    public SignatureEncoding Encoding { get; init; }

    [Setting("The header with the time of the request, in seconds since 1970.")]
    public string TimestampHeader { get; init; } = "X-Timestamp";

    [Setting("What is signed: a text with the place {timestamp}, and {body} at its end.")]
    public string Content { get; init; } = $"{Timestamp}.{Body}";

    [Setting("Largest difference between the time of a request and now; older requests are refused as replayed.", Range = "1s..1h")]
    public TimeSpan Tolerance { get; init; } = TimeSpan.FromMinutes(5);
}
