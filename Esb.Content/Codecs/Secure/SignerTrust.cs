using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Esb.Core.Certificates;
using Esb.Core.Errors;
using Esb.Core.Parties;

namespace Esb.Content.Codecs.Secure;

/// <summary>Decides whether the signer of a body is trusted, and which party it is. Thread-safe.</summary>
/// <param name="authorities">The only trusted authorities; a certificate among them is trusted itself.</param>
/// <param name="parties">The parties, some of which may list certificates.</param>
/// <param name="time">The clock.</param>
internal sealed class SignerTrust(X509Certificate2Collection authorities, IEnumerable<PartyConfig> parties, TimeProvider time)
{
    private const int MaxKnown = 1_000;

    // A certificate that was found good is not examined again for this time.
    private static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(1);

    private readonly List<(string Party, CertificateCredentialConfig Listed, X509Certificate2Collection? Ca)> _listed =
    [
        .. parties
            .Where(party => party.IsWhole)
            .SelectMany(
                party => party.Certificates,
                (party, one) => (party.Name, one, one.Ca is null ? null : CertificateFiles.LoadAuthorities(one.Ca, time.GetUtcNow()))
            ),
    ];

    private readonly ConcurrentDictionary<string, (long At, string? Party)> _known = new();

    /// <summary>Returns the party of a signer; null if no party lists certificates.</summary>
    /// <param name="signer">The signer's certificate.</param>
    /// <param name="sent">Further certificates that came with the signature.</param>
    /// <exception cref="EsbException"><c>ESB-SECURE-SIGNER</c>.</exception>
    public string? PartyOf(X509Certificate2 signer, X509Certificate2Collection sent)
    {
        var thumbprint = signer.GetCertHashString(HashAlgorithmName.SHA256);
        if (_known.TryGetValue(thumbprint, out var known) && time.GetElapsedTime(known.At) < Lifetime)
            return known.Party;
        if (FaultOf(signer, authorities, sent) is { } fault)
            throw SecureFaults.Signer(fault);
        var party = Find(signer, thumbprint, sent);
        if (party is null && _listed.Count > 0)
            throw SecureFaults.Signer("no party lists its certificate");
        if (_known.Count >= MaxKnown)
            _known.Clear();
        _known[thumbprint] = (time.GetTimestamp(), party);
        return party;
    }

    private string? Find(X509Certificate2 signer, string thumbprint, X509Certificate2Collection sent)
    {
        foreach (var (party, listed, ca) in _listed)
        {
            if (
                listed.Thumbprint is { } known
                    ? known.Equals(thumbprint, StringComparison.OrdinalIgnoreCase)
                    : IsNamed(signer, listed.Subject!) && ca is not null && FaultOf(signer, ca, sent) is null
            )
                return party;
        }

        return null;
    }

    private static bool IsNamed(X509Certificate2 signer, string subject) =>
        DistinguishedNames.Normalize(signer.SubjectName) == DistinguishedNames.Normalize(subject);

    private string? FaultOf(X509Certificate2 signer, X509Certificate2Collection trusted, X509Certificate2Collection sent)
    {
        var usage = signer.Extensions.OfType<X509KeyUsageExtension>().FirstOrDefault()?.KeyUsages;
        if (usage is { } flags && (flags & (X509KeyUsageFlags.DigitalSignature | X509KeyUsageFlags.NonRepudiation)) == 0)
            return "its certificate is not for signatures";
        using var chain = new X509Chain
        {
            ChainPolicy =
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                RevocationMode = X509RevocationMode.NoCheck,
                DisableCertificateDownloads = true,
                VerificationTime = time.GetUtcNow().UtcDateTime,
                VerificationFlags = X509VerificationFlags.IgnoreWrongUsage,
            },
        };
        chain.ChainPolicy.CustomTrustStore.AddRange(trusted);
        chain.ChainPolicy.ExtraStore.AddRange(sent);
        if (chain.Build(signer))
            return null;
        var status = chain.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, (all, one) => all | one.Status);
        if (status.HasFlag(X509ChainStatusFlags.NotTimeValid))
            return $"its certificate is valid from {CertificateFiles.Date(signer.NotBefore)} to "
                + $"{CertificateFiles.Date(signer.NotAfter)} only";
        return "no authority that is trusted here vouches for its certificate";
    }
}
