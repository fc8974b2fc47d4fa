using System.Collections.Frozen;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Esb.Core.Certificates;
using Esb.Core.Parties;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http.Access;

/// <summary>The certificates of a party: any certificate with this subject that the authority vouches for.</summary>
internal sealed record PartySubject(Party Party, string Subject, PeerVerifier Authority);

/// <summary>Identifies callers by their TLS client certificate, which the listener has verified. A certificate is evaluated once per
/// connection.</summary>
internal sealed class CertificateCheck(FrozenDictionary<string, Party> thumbprints, IReadOnlyList<PartySubject> subjects, TimeProvider time)
    : ICredentialCheck
{
    private readonly ConditionalWeakTable<X509Certificate2, Owner> _known = [];

    public string Challenge => "Certificate";

    public ValueTask<Verdict> IdentifyAsync(HttpContext context) =>
        new(Identify(context.Features.Get<ITlsConnectionFeature>()?.ClientCertificate));

    private Verdict Identify(X509Certificate2? shown)
    {
        if (shown is null)
            return Verdict.Refused(Denial.Missing);
        if (time.GetUtcNow() > shown.NotAfter)
            return Verdict.Refused(Denial.OutOfTime); // a connection may outlive its certificate
        return Verdict.Of(_known.GetValue(shown, certificate => new Owner(PartyOf(certificate))).Party);
    }

    private Party? PartyOf(X509Certificate2 certificate)
    {
        if (thumbprints.TryGetValue(certificate.GetCertHashString(HashAlgorithmName.SHA256), out var party))
            return party;
        var subject = DistinguishedNames.Normalize(certificate.SubjectName);
        return subjects.FirstOrDefault(one => one.Subject == subject && one.Authority.Trusts(certificate))?.Party;
    }

    private sealed record Owner(Party? Party);
}
