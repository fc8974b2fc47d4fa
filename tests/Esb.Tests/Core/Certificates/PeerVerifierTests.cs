using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Esb.Core.Certificates;

namespace Esb.Tests.Certificates;

public sealed class PeerVerifierTests
{
    [Test, CancelAfter(60_000)]
    public async Task An_address_of_the_issuer_in_a_certificate_is_never_asked(CancellationToken cancellationToken)
    {
        using var issuers = new TcpListener(IPAddress.Loopback, 0);
        issuers.Start();
        var asked = AnswerNothingAsync(issuers, cancellationToken);
        using var authority = SelfSigned("authority", issuer: null);
        using var stranger = SelfSigned("stranger", $"http://{issuers.LocalEndpoint}/issuer.cer");
        var verifier = new PeerVerifier("the caller", [authority], PeerVerifier.Client);

        var isTrusted = verifier.Trusts(stranger);

        issuers.Stop();
        Assert.That(isTrusted, Is.False);
        Assert.That(await asked, Is.False);
    }

    // Whether anything connected before the listener stopped.
    private static async Task<bool> AnswerNothingAsync(TcpListener listener, CancellationToken cancellationToken)
    {
        try
        {
            using var connection = await listener.AcceptSocketAsync(cancellationToken);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    // Issued by an authority that is nowhere to be found, so that the platform would look for it.
    private static X509Certificate2 SelfSigned(string name, string? issuer)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        var (from, to) = (TimeProvider.System.GetUtcNow().AddDays(-1), TimeProvider.System.GetUtcNow().AddDays(1));
        if (issuer is null)
            return request.CreateSelfSigned(from, to);
        request.CertificateExtensions.Add(new X509AuthorityInformationAccessExtension(ocspUris: null, caIssuersUris: [issuer]));
        return request.Create(new X500DistinguishedName("CN=unknown"), X509SignatureGenerator.CreateForECDsa(key), from, to, [1, 2, 3]);
    }
}
