using Esb.Core.Configuration.Settings;

namespace Esb.Core.Certificates;

/// <summary>Whom a TLS connection to a server of the outside trusts, and as whom it presents itself. Everything is verified, with or without it.</summary>
public sealed record ClientTlsConfig : SettingsRecord
{
    /// <summary>The only authorities that count; null for those of the system.</summary>
    [Setting("The certificates, in PEM, of the only authorities that may vouch for the server; those of the system where none are named.", IsPath = true)]
    public string? Ca { get; init; }

    /// <summary>What this side shows; null for nothing.</summary>
    [Setting("The certificate of this client: PEM, or PKCS #12 with its key.", IsPath = true)]
    public string? Certificate { get; init; }

    /// <summary>The key of <see cref="Certificate"/>; null where it is in the same file.</summary>
    [Setting("Its key, in PEM, where that is in a file of its own.", IsPath = true)]
    public string? Key { get; init; }

    /// <summary>Opens the key; null where it is not encrypted.</summary>
    [Setting("Opens the key.", Secret = true)]
    public string? Passphrase { get; init; }

    /// <summary>The name to be found in the server's certificate; null for the host of the address.</summary>
    [Setting("The name that the server's certificate must be made out to; by default the host of the address.")]
    public string? ServerName { get; init; }
}
