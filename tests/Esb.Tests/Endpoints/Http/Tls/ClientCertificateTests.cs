using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Esb.Tests.Topics;

namespace Esb.Tests.Endpoints.Http.Tls;

/// <summary>Callers that show a certificate.</summary>
public sealed class ClientCertificateTests : TlsFixture
{
    private const string Orders =
        """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "authentication": ["certificate"] } """;

    [Test, CancelAfter(30_000)]
    public async Task Party_is_known_by_its_thumbprint_or_its_subject(CancellationToken cancellationToken)
    {
        var (pinned, named) = (Authority.Issue("pinned", isClient: true), Authority.Issue("named", isClient: true));
        await StartAsync("required", Pinned(pinned), $$""" { "subject": "cn = named", "ca": "{{Authority.File}}" } """);

        using var first = (await PostAsync(pinned, cancellationToken)).Answer;
        using var second = (await PostAsync(named, cancellationToken)).Answer;

        Assert.That((first.StatusCode, second.StatusCode), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Accepted)));
        Assert.That(Bus.Published.Select(message => message.Party), Is.EqualTo(new[] { "shop", "shop" }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Certificate_of_nobody_is_no_credential(CancellationToken cancellationToken)
    {
        await StartAsync(
            "required",
            Pinned(Authority.Issue("pinned", isClient: true)),
            $$""" { "subject": "CN=named", "ca": "{{Stranger.File}}" } """
        );

        using var unknown = (await PostAsync(Authority.Issue("pinned", isClient: true), cancellationToken)).Answer;
        using var otherAuthority = (await PostAsync(Authority.Issue("named", isClient: true), cancellationToken)).Answer;

        Assert.That(
            (unknown.StatusCode, otherAuthority.StatusCode),
            Is.EqualTo((HttpStatusCode.Unauthorized, HttpStatusCode.Unauthorized))
        );
        Assert.That(unknown.Headers.WwwAuthenticate.Single().Scheme, Is.EqualTo("Certificate"));
    }

    [TestCase("optional", true), TestCase("required", false), CancelAfter(30_000)]
    public async Task Caller_without_a_certificate_gets_a_connection_only_where_that_is_optional(
        string mode,
        bool connects,
        CancellationToken cancellationToken
    )
    {
        await StartAsync(mode, Pinned(Authority.Issue("pinned", isClient: true)));

        Assert.That(await OutcomeAsync(null, cancellationToken), Is.EqualTo(connects ? "Unauthorized" : "no connection"));
        Assert.That(
            Bus.Log.All.Select(line => line.Text),
            connects
                ? Has.None.Contains("refused a connection")
                : Has.One.Contains("Listener public refused a connection: the caller shows no certificate; 0 more")
        );
    }

    [TestCase("optional"), TestCase("required"), CancelAfter(30_000)]
    public async Task Certificate_that_is_wrong_gets_no_connection(string mode, CancellationToken cancellationToken)
    {
        var good = Authority.Issue("pinned", isClient: true);
        await StartAsync(mode, Pinned(good));

        Assert.That(
            await OutcomeAsync(Stranger.Issue("pinned", isClient: true), cancellationToken),
            Is.EqualTo("no connection"),
            "another authority"
        );
        Assert.That(
            await OutcomeAsync(Authority.Issue("pinned", isClient: true, fromDay: -10, toDay: -1), cancellationToken),
            Is.EqualTo("no connection"),
            "expired"
        );
        Assert.That(
            await OutcomeAsync(Authority.Issue("pinned", isClient: false), cancellationToken),
            Is.EqualTo("no connection"),
            "made for servers"
        );
        Assert.That(await OutcomeAsync(good, cancellationToken), Is.EqualTo("Accepted"));
        Assert.That(
            Bus.Log.All.Select(line => line.Text),
            Has.One.Contains(
                "Listener public refused a connection: no authority that is trusted here vouches for the caller's certificate"
            ),
            "once in a while"
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Connection_does_not_outlive_what_its_certificate_proves(CancellationToken cancellationToken)
    {
        var client = Authority.Issue("pinned", isClient: true);
        await StartAsync("required", Pinned(client));
        using var connection = new HttpClient(new SocketsHttpHandler { SslOptions = ClientOptions(client) }) { BaseAddress = Address };

        using var before = await connection.PostAsync("/orders", null, cancellationToken);
        Time.Skip(TimeSpan.FromDays(2));
        using var after = await connection.PostAsync("/orders", null, cancellationToken);

        Assert.That((before.StatusCode, after.StatusCode), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Unauthorized)));
    }

    private Task StartAsync(string mode, params string[] certificates) =>
        Bus.StartAsync(
            Orders,
            $$"""
            {{Listener(Authority.Issue("127.0.0.1"), $$""", "clientCertificates": "{{mode}}", "clientCa": "{{Authority.File}}" """)}}
            , "parties": { "shop": { "certificates": [{{string.Join(", ", certificates)}}], "publish": ["orders.#"] } }
            """
        );

    private static string Pinned(IssuedCertificate issued) =>
        $$""" { "thumbprint": "{{X509CertificateLoader.LoadCertificateFromFile(issued.Certificate).GetCertHashString(HashAlgorithmName.SHA256).ToLowerInvariant()}}" } """;

    private async Task<string> OutcomeAsync(IssuedCertificate? client, CancellationToken cancellationToken)
    {
        try
        {
            using var answer = (await PostAsync(client, cancellationToken)).Answer;
            return answer.StatusCode.ToString();
        }
        catch (HttpRequestException)
        {
            return "no connection";
        }
    }
}
