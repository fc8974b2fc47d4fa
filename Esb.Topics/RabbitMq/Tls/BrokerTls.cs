using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Tls;

/// <summary>TLS to the broker, for our connections and the bus's alike: every check is made, and a failed one is told by name. Thread-safe.</summary>
/// <remarks>The libraries' own settings begin with chain errors among the acceptable ones, and an empty server name accepts every name.</remarks>
internal sealed class BrokerTls
{
    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1";

    private readonly string? _serverName;
    private readonly X509Certificate2Collection? _authorities;
    private readonly X509CertificateCollection _certificates = [];

    /// <exception cref="CertificateException">A file cannot be used.</exception>
    public BrokerTls(TlsConfig config, DateTimeOffset now)
    {
        _serverName = config.ServerName;
        if (config.Ca is { } ca) _authorities = CertificateFiles.LoadAuthorities(ca, now);
        if (config.Certificate is { } certificate) _certificates.Add(CertificateFiles.LoadWithKey(certificate, config.Key, config.Passphrase, now));
    }

    /// <summary>Trusts the authorities that the system trusts, and presents no certificate.</summary>
    public static BrokerTls OfSystem { get; } = new(new TlsConfig(), DateTimeOffset.MinValue);

    /// <param name="host">Whom the broker's certificate must be made out to, unless the configuration names another.</param>
    public SslOption ToOption(string host) => new()
    {
        Enabled = true,
        ServerName = _serverName ?? host,
        Version = SslProtocols.None, // what the system allows
        AcceptablePolicyErrors = SslPolicyErrors.None,
        Certs = _certificates,
        CertificateValidationCallback = (_, certificate, chain, errors) => Verify(_serverName ?? host, certificate, chain, errors),
    };

    // By an exception, so that the reason reaches whoever wanted to connect.
    private bool Verify(string serverName, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (certificate is not X509Certificate2 shown) throw new AuthenticationException("the broker shows no certificate");
        if (_authorities is not null) errors = errors & ~SslPolicyErrors.RemoteCertificateChainErrors | ErrorsOf(shown, chain, out chain);
        if (errors == SslPolicyErrors.None) return true;
        throw new AuthenticationException(Describe(serverName, shown, chain, errors));
    }

    // Only the authorities that were named count, whatever the system trusts.
    private SslPolicyErrors ErrorsOf(X509Certificate2 shown, X509Chain? sent, out X509Chain chain)
    {
        chain = new X509Chain { ChainPolicy = { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck } };
        chain.ChainPolicy.CustomTrustStore.AddRange(_authorities!);
        chain.ChainPolicy.ApplicationPolicy.Add(new Oid(ServerAuthentication));
        if (sent is not null) chain.ChainPolicy.ExtraStore.AddRange(sent.ChainElements.Select(element => element.Certificate).ToArray());
        return chain.Build(shown) ? SslPolicyErrors.None : SslPolicyErrors.RemoteCertificateChainErrors;
    }

    private static string Describe(string serverName, X509Certificate2 shown, X509Chain? chain, SslPolicyErrors errors)
    {
        if (errors.HasFlag(SslPolicyErrors.RemoteCertificateNameMismatch)) return $"the broker's certificate is made out to {shown.GetNameInfo(X509NameType.DnsName, forIssuer: false)}, not to {serverName}";
        var status = (chain?.ChainStatus ?? []).Aggregate(X509ChainStatusFlags.NoError, (all, one) => all | one.Status);
        if (status.HasFlag(X509ChainStatusFlags.NotTimeValid)) return $"the broker's certificate is valid from {CertificateFiles.Date(shown.NotBefore)} to {CertificateFiles.Date(shown.NotAfter)} only";
        return (status & (X509ChainStatusFlags.UntrustedRoot | X509ChainStatusFlags.PartialChain)) != 0
            ? "no authority that is trusted here vouches for the broker's certificate"
            : $"the broker's certificate is refused: {status}";
    }
}
