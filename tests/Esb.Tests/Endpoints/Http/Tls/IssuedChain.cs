using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http.Tls;

/// <summary>A certificate that an authority between it and the known one has issued.</summary>
internal static class IssuedChain
{
    /// <summary>Writes the certificate, its key and that authority into one file of PEM.</summary>
    /// <returns>The file, and the thumbprint of the authority in between.</returns>
    public static (string File, string Intermediate) Write(string folder, DateTimeOffset now)
    {
        using var rootKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var middleKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var root = Authority("root", rootKey).CreateSelfSigned(now.AddDays(-3), now.AddDays(3));
        using var middle = Authority("middle", middleKey).Create(root, now.AddDays(-2), now.AddDays(2), Guid.NewGuid().ToByteArray());
        using var signing = middle.CopyWithPrivateKey(middleKey);
        using var leaf = new CertificateRequest("CN=127.0.0.1", key, HashAlgorithmName.SHA256).Create(
            signing,
            now.AddDays(-1),
            now.AddDays(1),
            Guid.NewGuid().ToByteArray()
        );
        var file = Path.Combine(folder, "chain.pem");
        SecretText.Write(
            file,
            string.Join('\n', leaf.ExportCertificatePem(), key.ExportPkcs8PrivateKeyPem(), middle.ExportCertificatePem())
        );
        return (file, middle.Thumbprint);
    }

    private static CertificateRequest Authority(string name, ECDsa key)
    {
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: true, hasPathLengthConstraint: false, 0, critical: true)
        );
        return request;
    }
}
