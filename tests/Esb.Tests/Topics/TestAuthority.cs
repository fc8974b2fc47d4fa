using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Esb.Core.Storage;

namespace Esb.Tests.Topics;

/// <summary>An authority that issues certificates into files of a folder.</summary>
internal sealed class TestAuthority : IDisposable
{
    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1";
    private const string ClientAuthentication = "1.3.6.1.5.5.7.3.2";

    private readonly string _folder;
    private readonly DateTimeOffset _now;
    private readonly X509Certificate2 _root;

    public TestAuthority(string folder, string name, DateTimeOffset now)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256); // made at once
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: true, hasPathLengthConstraint: false, 0, critical: true)
        );
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        (_folder, _now) = (folder, now);
        _root = request.CreateSelfSigned(now.AddDays(-30), now.AddDays(30));
        File = Write($"{name}.pem", _root.ExportCertificatePem());
    }

    /// <summary>Its own certificate, in PEM.</summary>
    public string File { get; }

    /// <summary>Issues a certificate for a server or a client; by default valid from yesterday until tomorrow.</summary>
    public IssuedCertificate Issue(string name, bool isClient = false, int fromDay = -1, int toDay = 1)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256); // made at once
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        if (IPAddress.TryParse(name, out var address))
            names.AddIpAddress(address);
        else
            names.AddDnsName(name);
        request.CertificateExtensions.Add(names.Build());
        request.CertificateExtensions.Add(
            new X509EnhancedKeyUsageExtension([new Oid(isClient ? ClientAuthentication : ServerAuthentication)], critical: false)
        );
        using var certificate = request.Create(_root, _now.AddDays(fromDay), _now.AddDays(toDay), Guid.NewGuid().ToByteArray());
        using var withKey = certificate.CopyWithPrivateKey(key);
        var file = $"{name}-{Guid.NewGuid():N}";
        return new IssuedCertificate(
            Write($"{file}.pem", certificate.ExportCertificatePem()),
            Write($"{file}.key", key.ExportPkcs8PrivateKeyPem()),
            Write(
                $"{file}.locked.key",
                key.ExportEncryptedPkcs8PrivateKeyPem(
                    IssuedCertificate.Passphrase,
                    new PbeParameters(PbeEncryptionAlgorithm.Aes256Cbc, HashAlgorithmName.SHA256, 1_000)
                )
            ),
            Write($"{file}.pfx", withKey.Export(X509ContentType.Pkcs12, IssuedCertificate.Passphrase)),
            Write($"{file}.keyless.pfx", certificate.Export(X509ContentType.Pkcs12, IssuedCertificate.Passphrase))
        );
    }

    public void Dispose() => _root.Dispose();

    private string Write(string name, string text) => Write(name, System.Text.Encoding.ASCII.GetBytes(text));

    private string Write(string name, byte[] bytes)
    {
        var path = Path.Combine(_folder, name);
        OwnerFile.Write(path, bytes);
        return path;
    }
}

/// <summary>The files of a certificate.</summary>
/// <param name="Certificate">In PEM.</param>
/// <param name="Key">In PEM.</param>
/// <param name="LockedKey">In PEM, under <see cref="Passphrase"/>.</param>
/// <param name="Bundle">PKCS #12 with the key, under <see cref="Passphrase"/>.</param>
/// <param name="KeylessBundle">PKCS #12 without the key.</param>
internal sealed record IssuedCertificate(string Certificate, string Key, string LockedKey, string Bundle, string KeylessBundle)
{
    public const string Passphrase = "open sesame";
}
