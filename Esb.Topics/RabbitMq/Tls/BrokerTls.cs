using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Esb.Core.Certificates;

namespace Esb.Topics.RabbitMq.Tls;

/// <summary>TLS to the broker, for our own connections and those of the bus: performs every check, and reports a failed one by name.
/// Thread-safe.</summary>
/// <remarks>The libraries' defaults accept chain errors, and an empty server name accepts every name.</remarks>
internal sealed class BrokerTls
{
    private readonly string? _serverName;
    private readonly PeerVerifier _verifier;
    private readonly X509CertificateCollection _certificates = [];

    /// <exception cref="CertificateException">A file cannot be used.</exception>
    public BrokerTls(ClientTlsConfig config, DateTimeOffset now)
    {
        _serverName = config.ServerName;
        _verifier = new PeerVerifier(
            "the broker",
            config.Ca is { } ca ? CertificateFiles.LoadAuthorities(ca, now) : null,
            PeerVerifier.Server
        );
        if (config.Certificate is { } certificate)
            _certificates.Add(CertificateFiles.LoadWithKey(certificate, config.Key, config.Passphrase, now));
    }

    /// <summary>Trusts the authorities that the system trusts, and presents no certificate.</summary>
    public static BrokerTls OfSystem { get; } = new(new ClientTlsConfig(), DateTimeOffset.MinValue);

    /// <param name="host">The name that the broker's certificate must match, unless the configuration names another.</param>
    public SslClientAuthenticationOptions ToOptions(string host) =>
        new()
        {
            TargetHost = _serverName ?? host,
            EnabledSslProtocols = SslProtocols.None, // as the system allows
            ClientCertificates = _certificates,
            // for any authorities of the broker
            LocalCertificateSelectionCallback = (_, _, certificates, _, _) => certificates is [var ours, ..] ? ours : null!,
            CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
            RemoteCertificateValidationCallback = (_, certificate, chain, errors) =>
                Verify(_serverName ?? host, certificate, chain, errors),
        };

    // Throws, so that the reason reaches the caller that opens the connection.
    private bool Verify(string serverName, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors) =>
        _verifier.FaultOf(certificate, chain, errors, serverName) is { } fault ? throw new AuthenticationException(fault) : true;
}
