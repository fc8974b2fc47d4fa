using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Esb.Tests.Fakes;
using Esb.Tests.Topics;

namespace Esb.Tests.Endpoints.Http.Tls;

/// <summary>A bus behind TLS, an authority that it trusts, and one that nobody does.</summary>
public abstract class TlsFixture
{
    private protected ManualTime Time { get; private set; } = null!;

    private protected DirectoryInfo Folder { get; private set; } = null!;

    private protected TestAuthority Authority { get; private set; } = null!;

    private protected TestAuthority Stranger { get; private set; } = null!;

    private protected HttpBus Bus { get; private set; } = null!;

    private protected Uri Address => new($"https://127.0.0.1:{Bus.Port}");

    [OneTimeSetUp]
    public void CreateAuthorities()
    {
        Folder = Directory.CreateTempSubdirectory("esb-tls-");
        var now = TimeProvider.System.GetUtcNow();
        Authority = new TestAuthority(Folder.FullName, "authority", now);
        Stranger = new TestAuthority(Folder.FullName, "stranger", now);
    }

    [OneTimeTearDown]
    public void DeleteAuthorities()
    {
        Authority.Dispose();
        Stranger.Dispose();
        Folder.Delete(recursive: true);
    }

    [SetUp]
    public void CreateBus()
    {
        Time = new ManualTime();
        Time.Skip(TimeProvider.System.GetUtcNow() - Time.GetUtcNow()); // OpenSSL has a clock of its own
        Bus = new HttpBus { Time = Time };
    }

    [TearDown]
    public async Task StopBus() => await Bus.DisposeAsync();

    /// <summary>The section <c>listeners</c>, after a comma.</summary>
    private protected string Listener(IssuedCertificate shown, string more = "") =>
        $$""", "listeners": { "public": { "url": "https://127.0.0.1:{{Bus.Port}}", "tls": { {{Files(shown)}}{{more}} } } }""";

    private protected static string Files(IssuedCertificate shown) =>
        $$""" "certificate": "{{shown.Certificate}}", "key": "{{shown.Key}}" """;

    /// <summary>Calls as a client that trusts the authority; a new connection each time.</summary>
    private protected async Task<(HttpResponseMessage Answer, X509Certificate2? Shown)> PostAsync(
        IssuedCertificate? client,
        CancellationToken cancellationToken,
        string path = "/orders"
    )
    {
        X509Certificate2? shown = null;
        using var handler = new SocketsHttpHandler { SslOptions = ClientOptions(client, certificate => shown = certificate) };
        using var http = new HttpClient(handler) { BaseAddress = Address };
        return (await http.PostAsync(path, new StringContent("<order/>", Encoding.UTF8, "application/xml"), cancellationToken), shown);
    }

    private protected static SslClientAuthenticationOptions ClientOptions(IssuedCertificate? client, Action<X509Certificate2?>? seen = null)
    {
        var options = new SslClientAuthenticationOptions
        {
            RemoteCertificateValidationCallback = (_, certificate, _, _) =>
            {
                seen?.Invoke(certificate is null ? null : X509CertificateLoader.LoadCertificate(certificate.GetRawCertData()));
                return true;
            },
        };
        if (client is null)
            return options;
        var shown = X509CertificateLoader.LoadPkcs12FromFile(client.Bundle, IssuedCertificate.Passphrase);
        options.LocalCertificateSelectionCallback = (_, _, _, _, _) => shown;
        return options;
    }
}
