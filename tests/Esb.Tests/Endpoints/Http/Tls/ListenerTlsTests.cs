using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Esb.Tests.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Endpoints.Http.Tls;

public sealed class ListenerTlsTests : TlsFixture
{
    private const string Orders = """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" } """;

    [Test, CancelAfter(30_000)]
    public async Task Listener_shows_its_certificate_with_those_between_it_and_a_known_one(CancellationToken cancellationToken)
    {
        var (issued, intermediate) = IssuedChain.Write(Folder.FullName, TimeProvider.System.GetUtcNow());
        await Bus.StartAsync(
            Orders,
            $$""", "listeners": { "public": { "url": "https://127.0.0.1:{{Bus.Port}}", "tls": { "certificate": "{{issued}}" } } }"""
        );

        var (shown, chain) = await HandshakeAsync(SslProtocols.None, cancellationToken);

        Assert.That(shown, Is.EqualTo(X509CertificateLoader.LoadCertificateFromFile(issued).Thumbprint));
        Assert.That(chain, Does.Contain(intermediate));
    }

    [Test, CancelAfter(30_000)]
    public async Task Requests_are_taken_over_tls(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders, Listener(Authority.Issue("127.0.0.1")));

        using var answer = (await PostAsync(null, cancellationToken)).Answer;

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(Bus.Log.All.Select(line => line.Text), Has.None.Contains("without TLS"));
    }

    [TestCase("any", "2.0"), TestCase("http2", "2.0"), TestCase("http1", "1.1"), CancelAfter(30_000)]
    public async Task Callers_get_the_newest_version_of_http_that_the_listener_offers(
        string offered,
        string spoken,
        CancellationToken cancellationToken
    )
    {
        await Bus.StartAsync(Orders, Listener(Authority.Issue("127.0.0.1"))[..^4] + $$""", "versions": "{{offered}}" } }""");
        using var http = new HttpClient(new SocketsHttpHandler { SslOptions = ClientOptions(null) })
        {
            BaseAddress = Address,
            DefaultRequestVersion = HttpVersion.Version20,
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionOrLower,
        };

        using var answer = await http.PostAsync("/orders", new StringContent("<order/>"), cancellationToken);

        Assert.That((answer.StatusCode, answer.Version.ToString()), Is.EqualTo((HttpStatusCode.Accepted, spoken)));
    }

    [
        TestCase("", SslProtocols.Tls12, true),
        TestCase("", SslProtocols.Tls13, true),
        TestCase(""", "minimumVersion": "1.3" """, SslProtocols.Tls12, false),
        TestCase(""", "minimumVersion": "1.3" """, SslProtocols.Tls13, true),
        CancelAfter(30_000)
    ]
    public async Task Versions_below_the_least_are_refused(
        string settings,
        SslProtocols version,
        bool taken,
        CancellationToken cancellationToken
    )
    {
        await Bus.StartAsync(Orders, Listener(Authority.Issue("127.0.0.1"), settings));

        Func<Task> handshake = () => HandshakeAsync(version, cancellationToken);

        Assert.That(handshake, taken ? Throws.Nothing : Throws.InstanceOf<AuthenticationException>().Or.InstanceOf<IOException>());
    }

    [Test, CancelAfter(30_000)]
    public async Task Renewed_certificate_is_shown_without_a_restart(CancellationToken cancellationToken)
    {
        var (first, second) = (Authority.Issue("127.0.0.1"), Authority.Issue("127.0.0.1"));
        var (oldThumbprint, newThumbprint) = (Thumbprint(first), Thumbprint(second));
        await Bus.StartAsync(Orders, Listener(first));
        using var connection = new HttpClient(new SocketsHttpHandler { SslOptions = ClientOptions(null) }) { BaseAddress = Address };
        using var before = await connection.PostAsync("/orders", null, cancellationToken);

        // the key of another for a moment, as when two files are replaced
        File.Copy(second.Certificate, first.Certificate, overwrite: true);
        Time.Advance(TimeSpan.FromSeconds(6));
        var between = await HandshakeAsync(SslProtocols.None, cancellationToken);
        File.Copy(second.Key, first.Key, overwrite: true);
        Time.Advance(TimeSpan.FromSeconds(6));
        var after = await HandshakeAsync(SslProtocols.None, cancellationToken);
        using var same = await connection.PostAsync("/orders", null, cancellationToken);

        Assert.That((between.Shown, after.Shown), Is.EqualTo((oldThumbprint, newThumbprint)));
        Assert.That(same.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), "a connection goes on");
        Assert.That(
            Bus.Log.All.Where(line => line.Text.Contains("certificate of listener", StringComparison.Ordinal))
                .Select(line => (line.Level, line.Text.Trim())),
            Is.EqualTo(
                new[]
                {
                    (
                        LogLevel.Error,
                        "ESB-CFG-RELOAD the certificate of listener public has changed and cannot be used; the previous content "
                            + "stays in use: it does not belong to its key"
                    ),
                    (LogLevel.Information, "the certificate of listener public has changed and is in use as of now"),
                }
            )
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Certificate_in_pkcs12_is_taken(CancellationToken cancellationToken)
    {
        var issued = Authority.Issue("127.0.0.1");
        Bus.Variables["PASSPHRASE"] = IssuedCertificate.Passphrase;
        await Bus.StartAsync(
            Orders,
            $$""", "listeners": { "public": { "url": "https://127.0.0.1:{{Bus.Port}}", "tls": { "certificate": "{{issued.Bundle}}", "passphrase": "${env:PASSPHRASE}" } } }"""
        );

        Assert.That((await HandshakeAsync(SslProtocols.None, cancellationToken)).Shown, Is.EqualTo(Thumbprint(issued)));
    }

    [Test, Property("Case", "CFG-29")]
    public void Certificate_that_is_expired_is_refused_at_the_start()
    {
        Bus.Read(Orders, Listener(Authority.Issue("127.0.0.1", fromDay: -10, toDay: -1)));

        Assert.That(
            Bus.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-CERT", "listeners.public.tls.certificate") })
        );
        Assert.That(Bus.Errors.All[0].Expected, Does.StartWith("expired on "));
    }

    private async Task<(string Shown, IReadOnlyList<string> Chain)> HandshakeAsync(
        SslProtocols version,
        CancellationToken cancellationToken
    )
    {
        using var tcp = new TcpClient();
        await tcp.ConnectAsync(IPAddress.Loopback, Bus.Port, cancellationToken);
        IReadOnlyList<string> chain = [];
        await using var stream = new SslStream(
            tcp.GetStream(),
            leaveInnerStreamOpen: false,
            (_, _, built, _) =>
            {
                chain = [.. built!.ChainPolicy.ExtraStore.Select(certificate => certificate.Thumbprint)];
                return true;
            }
        );
        await stream.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions { TargetHost = "127.0.0.1", EnabledSslProtocols = version },
            cancellationToken
        );
        return (new X509Certificate2(stream.RemoteCertificate!).Thumbprint, chain);
    }

    private static string Thumbprint(IssuedCertificate issued) =>
        X509CertificateLoader.LoadCertificateFromFile(issued.Certificate).Thumbprint;
}
