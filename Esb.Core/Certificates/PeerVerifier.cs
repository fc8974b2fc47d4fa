using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Esb.Core.Certificates;

/// <summary>Verifies the certificate of a TLS peer, and reports in plain words which check failed. Thread-safe.</summary>
/// <remarks>Opens no connection: the addresses of issuers in a certificate are chosen by its author.</remarks>
/// <param name="peer">Name of the peer, for people: <c>the broker</c>.</param>
/// <param name="authorities">The only trusted authorities (RFC 5280, section 6), regardless of the system's; null for those of the
/// system.</param>
/// <param name="purpose">The required purpose of the certificate: <see cref="Server"/> or <see cref="Client"/>.</param>
public sealed class PeerVerifier(string peer, X509Certificate2Collection? authorities, string purpose)
{
    /// <summary>The purpose of servers (id-kp-serverAuth of RFC 5280, section 4.2.1.12).</summary>
    public const string Server = "1.3.6.1.5.5.7.3.1";

    /// <summary>The purpose of clients (id-kp-clientAuth).</summary>
    public const string Client = "1.3.6.1.5.5.7.3.2";

    /// <summary>Returns the failed check, as a sentence without its end; null if all passed.</summary>
    /// <param name="certificate">The certificate that the peer presents.</param>
    /// <param name="sent">The chain that the platform built, with the further certificates that the peer sent.</param>
    /// <param name="errors">The errors that the platform found.</param>
    /// <param name="name">The name to which the certificate must be issued; null if the name is not checked here.</param>
    public string? FaultOf(X509Certificate? certificate, X509Chain? sent, SslPolicyErrors errors, string? name)
    {
        if (certificate is not X509Certificate2 shown)
            return $"{peer} shows no certificate";
        if (name is not null && errors.HasFlag(SslPolicyErrors.RemoteCertificateNameMismatch))
            return $"{peer}'s certificate is made out to {shown.GetNameInfo(X509NameType.DnsName, forIssuer: false)}, not to {name}";
        if (authorities is null)
            return errors.HasFlag(SslPolicyErrors.RemoteCertificateChainErrors) ? Describe(shown, sent) : null;

        using var chain = Chain(sent);
        return chain.Build(shown) ? null : Describe(shown, chain);
    }

    /// <summary>True if one of the authorities vouches for a presented certificate, and it is valid now.</summary>
    public bool Trusts(X509Certificate2 shown) =>
        FaultOf(shown, sent: null, SslPolicyErrors.RemoteCertificateChainErrors, name: null) is null;

    private X509Chain Chain(X509Chain? sent)
    {
        var chain = new X509Chain
        {
            ChainPolicy =
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                RevocationMode = X509RevocationMode.NoCheck,
                DisableCertificateDownloads = true,
            },
        };
        chain.ChainPolicy.CustomTrustStore.AddRange(authorities!);
        chain.ChainPolicy.ApplicationPolicy.Add(new Oid(purpose));
        if (sent is not null)
            chain.ChainPolicy.ExtraStore.AddRange(sent.ChainElements.Select(element => element.Certificate).ToArray());
        return chain;
    }

    private string Describe(X509Certificate2 shown, X509Chain? chain)
    {
        var status = (chain?.ChainStatus ?? []).Aggregate(X509ChainStatusFlags.NoError, (all, one) => all | one.Status);
        if (status.HasFlag(X509ChainStatusFlags.NotTimeValid))
            return $"{peer}'s certificate is valid from {CertificateFiles.Date(shown.NotBefore)} to "
                + $"{CertificateFiles.Date(shown.NotAfter)} only";
        return (status & (X509ChainStatusFlags.UntrustedRoot | X509ChainStatusFlags.PartialChain)) != 0
            ? $"no authority that is trusted here vouches for {peer}'s certificate"
            : $"{peer}'s certificate is refused: {status}";
    }
}
