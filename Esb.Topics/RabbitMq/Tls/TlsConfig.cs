using Esb.Core.Configuration.Settings;

namespace Esb.Topics.RabbitMq.Tls;

/// <summary>Whom a TLS connection to the broker trusts, and as whom it presents itself.</summary>
internal sealed record TlsConfig : SettingsRecord
{
    [Setting("The certificates, in PEM, of the only authorities that may vouch for the broker; those of the system where none are named.", IsPath = true)]
    public string? Ca { get; init; }

    [Setting("The certificate of this client: PEM, or PKCS #12 with its key.", IsPath = true)]
    public string? Certificate { get; init; }

    [Setting("Its key, in PEM, where that is in a file of its own.", IsPath = true)]
    public string? Key { get; init; }

    [Setting("Opens the key.", Secret = true)]
    public string? Passphrase { get; init; }

    [Setting("The name that the broker's certificate must be made out to; by default the host of the address.")]
    public string? ServerName { get; init; }
}
