using System.Text.Json.Serialization;
using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Http.Tls;

/// <summary>The client certificates that a listener requests in TLS.</summary>
public enum ClientCertificateMode
{
    /// <summary>No certificate.</summary>
    None,

    /// <summary>A valid certificate, if the caller has one.</summary>
    Optional,

    /// <summary>A valid certificate; other connections are refused.</summary>
    Required,
}

/// <summary>The minimum version of TLS.</summary>
public enum TlsVersion
{
    /// <summary>TLS 1.2 (RFC 5246).</summary>
    [JsonStringEnumMemberName("1.2")]
    Tls12,

    /// <summary>TLS 1.3 (RFC 8446).</summary>
    [JsonStringEnumMemberName("1.3")]
    Tls13,
}

/// <summary>TLS of a listener.</summary>
public sealed record ListenerTlsConfig : SettingsRecord
{
    /// <summary>The certificate, in PEM or PKCS #12.</summary>
    [Setting(
        "The certificate that is shown: PEM, or PKCS #12 with its key, with those of the authorities between it and a known one. A "
            + "renewed file is used without a restart.",
        IsPath = true
    )]
    public required string Certificate { get; init; }

    /// <summary>Its key; null if it is in the same file.</summary>
    [Setting("Its key, in PEM, where that is in a file of its own.", IsPath = true)]
    public string? Key { get; init; }

    /// <summary>Opens the key.</summary>
    [Setting("Opens the key.", Secret = true)]
    public string? Passphrase { get; init; }

    /// <summary>Client certificates; none by default.</summary>
    [Setting("Whether callers present a client certificate.")]
    public ClientCertificateMode ClientCertificates { get; init; }

    /// <summary>The authorities of client certificates.</summary>
    [Setting(
        "The certificates, in PEM, of the only authorities that may vouch for callers; required where callers show certificates.",
        IsPath = true
    )]
    public string? ClientCa { get; init; }

    /// <summary>The minimum version; 1.2 by default.</summary>
    [Setting("The least version of TLS.")]
    public TlsVersion MinimumVersion { get; init; }
}
