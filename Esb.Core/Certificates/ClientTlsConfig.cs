using Esb.Core.Configuration.Settings;

namespace Esb.Core.Certificates;

/// <summary>Trust and client certificate of a TLS connection to an external server. Certificates are verified with or without these
/// settings.</summary>
public sealed record ClientTlsConfig : SettingsRecord
{
    /// <summary>The only trusted authorities; null for those of the system.</summary>
    [Setting(
        "The certificates, in PEM, of the only authorities that may vouch for the server; those of the system where none are named.",
        IsPath = true
    )]
    public string? Ca { get; init; }

    /// <summary>The client certificate; null for none.</summary>
    [Setting("The certificate of this client: PEM, or PKCS #12 with its key.", IsPath = true)]
    public string? Certificate { get; init; }

    /// <summary>The key of <see cref="Certificate"/>; null if it is in the same file.</summary>
    [Setting("Its key, in PEM, where that is in a file of its own.", IsPath = true)]
    public string? Key { get; init; }

    /// <summary>Decrypts the key; null if it is not encrypted.</summary>
    [Setting("Opens the key.", Secret = true)]
    public string? Passphrase { get; init; }

    /// <summary>The name required in the server's certificate; null for the host of the address.</summary>
    [Setting("The name that the server's certificate must be made out to; by default the host of the address.")]
    public string? ServerName { get; init; }
}
