using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Esb.Core.Certificates;

namespace Esb.Endpoints.Http.Tls;

/// <summary>TLS to the server of an http-outbound endpoint. Every check is enforced, and a failed check is reported by name; none can be
/// disabled.</summary>
internal static class TargetTls
{
    /// <exception cref="CertificateException">A file cannot be used.</exception>
    public static SslClientAuthenticationOptions Options(ClientTlsConfig config, DateTimeOffset now)
    {
        var verifier = new PeerVerifier(
            "the server",
            config.Ca is { } ca ? CertificateFiles.LoadAuthorities(ca, now) : null,
            PeerVerifier.Server
        );
        var options = new SslClientAuthenticationOptions
        {
            EnabledSslProtocols = SslProtocols.None, // the system's choice, at least 1.2
            RemoteCertificateValidationCallback = (stream, shown, chain, errors) =>
                Verify(verifier, config.ServerName, stream, shown, chain, errors),
        };
        if (config.Certificate is { } certificate)
        {
            var shown = CertificateFiles.LoadWithKey(certificate, config.Key, config.Passphrase, now);
            options.ClientCertificateContext = SslStreamCertificateContext.Create(
                shown,
                CertificateFiles.LoadIntermediates(certificate, config.Passphrase, shown),
                offline: true
            );
        }

        return options;
    }

    // Throws, so that the reason reaches the caller that connects.
    private static bool Verify(
        PeerVerifier verifier,
        string? serverName,
        object stream,
        X509Certificate? shown,
        X509Chain? chain,
        SslPolicyErrors errors
    )
    {
        if (serverName is not null && shown is X509Certificate2 certificate) // the client checked for the host of the address
            errors = certificate.MatchesHostname(serverName)
                ? errors & ~SslPolicyErrors.RemoteCertificateNameMismatch
                : errors | SslPolicyErrors.RemoteCertificateNameMismatch;
        return verifier.FaultOf(shown, chain, errors, serverName ?? ((SslStream)stream).TargetHostName) is { } fault
            ? throw new UntrustedServerException(fault)
            : true;
    }
}
