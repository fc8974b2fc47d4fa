using System.Diagnostics;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Esb.Tests.Content.Codecs;

/// <summary>A folder with keys for S/MIME and OpenPGP, and the tools of the outside that read and write both.</summary>
[System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
internal sealed class SecureKeyFiles : IDisposable
{
    private const string Rsa = """
        Key-Type: RSA
        Key-Length: 2048
        Key-Usage: sign,cert
        Subkey-Type: RSA
        Subkey-Length: 2048
        Subkey-Usage: encrypt
        """;

    private const string EllipticCurves = """
        Key-Type: EDDSA
        Key-Curve: Ed25519
        Key-Usage: sign,cert
        Subkey-Type: ECDH
        Subkey-Curve: Curve25519
        Subkey-Usage: encrypt
        """;

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esbkeys-");
    private readonly X509Certificate2 _ca;

    public SecureKeyFiles()
    {
        _ca = Issue("CN=an authority", issuer: null);
        File.WriteAllText(PathOf("ca.pem"), _ca.ExportCertificatePem());
        Thumbprints = new[] { "us", "partner", "stranger" }.ToDictionary(name => name, Make);
    }

    public IReadOnlyDictionary<string, string> Thumbprints { get; }

    public string PathOf(string file) => Path.Combine(_folder.FullName, file);

    public string Write(string file, string text)
    {
        File.WriteAllText(PathOf(file), text);
        return PathOf(file);
    }

    public string Write(string file, byte[] bytes)
    {
        File.WriteAllBytes(PathOf(file), bytes);
        return PathOf(file);
    }

    public byte[] Read(string file) => File.ReadAllBytes(PathOf(file));

    /// <summary>Runs a program in the folder, and fails the test where it is missing or says no.</summary>
    public void Run(string program, params IReadOnlyList<string> arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = _folder.FullName,
            RedirectStandardError = true,
            RedirectStandardOutput = true,
            RedirectStandardInput = true,
        };
        start.Environment["GNUPGHOME"] = _folder.FullName;
        using var process =
            Process.Start(start)
            ?? throw new AssertionException($"{program} cannot be started; install it (apt-get install openssl gnupg).");
        process.StandardInput.Close();
        var error = process.StandardError.ReadToEndAsync();
        process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Assert.That(process.ExitCode, Is.Zero, () => $"{program} {string.Join(' ', arguments)}: {error.Result}");
    }

    /// <summary>Makes keys of OpenPGP: <c>us.sec</c> with the passphrase in <c>pass.txt</c>, <c>partner.sec</c>, and <c>us.pub</c>,
    /// <c>partner.pub</c>.</summary>
    public void MakePgpKeys()
    {
        Write("gpg-agent.conf", "s2k-count 65536\n"); // the least: how hard the passphrase is to guess is no subject of tests
        foreach (var name in new[] { "us", "partner" })
        {
            Write(
                "key.txt",
                $"""
                {(name == "us" ? Rsa : EllipticCurves)}
                Name-Email: {name}@example.org
                Expire-Date: 0
                {(name == "us" ? "Passphrase: geheim" : "%no-protection")}
                %commit

                """
            );
            Run("gpg", "--batch", "--pinentry-mode", "loopback", "--generate-key", "key.txt");
            Run("gpg", "--batch", "--yes", "--armor", "--output", $"{name}.pub", "--export", $"{name}@example.org");
            Run(
                "gpg",
                "--batch",
                "--yes",
                "--armor",
                "--pinentry-mode",
                "loopback",
                "--passphrase",
                name == "us" ? "geheim" : "",
                "--output",
                $"{name}.sec",
                "--export-secret-keys",
                $"{name}@example.org"
            );
            File.SetUnixFileMode(PathOf($"{name}.sec"), UnixFileMode.UserRead | UnixFileMode.UserWrite);
        }

        Write("pass.txt", "geheim");
        File.SetUnixFileMode(PathOf("pass.txt"), UnixFileMode.UserRead | UnixFileMode.UserWrite);
    }

    /// <summary>Makes <c>offline.sec</c>: a subkey that signs, with the public part only of its main key.</summary>
    public void MakeOfflinePgpKey()
    {
        Write(
            "key.txt",
            """
            Key-Type: RSA
            Key-Length: 2048
            Key-Usage: cert
            Subkey-Type: RSA
            Subkey-Length: 2048
            Subkey-Usage: sign
            Name-Email: offline@example.org
            Expire-Date: 0
            %no-protection
            %commit

            """
        );
        Run("gpg", "--batch", "--generate-key", "key.txt");
        Run("gpg", "--batch", "--armor", "--output", "offline.sec", "--export-secret-subkeys", "offline@example.org");
        File.SetUnixFileMode(PathOf("offline.sec"), UnixFileMode.UserRead | UnixFileMode.UserWrite);
    }

    /// <summary>Ends the agent that <c>gpg</c> started for the folder.</summary>
    public void StopPgpAgent() => Run("gpgconf", "--kill", "gpg-agent");

    public void Dispose()
    {
        _ca.Dispose();
        _folder.Delete(recursive: true);
    }

    private string Make(string name)
    {
        using var certificate = Issue($"CN={name}", name == "stranger" ? null : _ca);
        using var key = certificate.GetRSAPrivateKey()!;
        File.WriteAllText(PathOf($"{name}.pem"), certificate.ExportCertificatePem());
        File.WriteAllText(PathOf($"{name}.key"), $"{certificate.ExportCertificatePem()}\n{key.ExportPkcs8PrivateKeyPem()}\n");
        File.SetUnixFileMode(PathOf($"{name}.key"), UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return certificate.GetCertHashString(HashAlgorithmName.SHA256);
    }

    private static X509Certificate2 Issue(string subject, X509Certificate2? issuer)
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest(subject, key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        request.CertificateExtensions.Add(
            new X509BasicConstraintsExtension(certificateAuthority: issuer is null, hasPathLengthConstraint: false, 0, critical: true)
        );
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        var (from, to) = (TimeProvider.System.GetUtcNow().AddDays(-1), TimeProvider.System.GetUtcNow().AddDays(30));
        if (issuer is null)
            return request.CreateSelfSigned(from, to);
        using var issued = request.Create(issuer, from, to.AddDays(-1), Guid.NewGuid().ToByteArray());
        return issued.CopyWithPrivateKey(key);
    }
}
