using System.Security.Cryptography.X509Certificates;
using Esb.Endpoints.Mail;
using Esb.Tests.Topics;

namespace Esb.Tests.Endpoints.Mail;

[CancelAfter(60_000)]
public sealed class MailTlsTests
{
    private DirectoryInfo _folder = null!;
    private TestAuthority _authority = null!;

    [SetUp]
    public void CreateAuthority()
    {
        _folder = Directory.CreateTempSubdirectory("esb-");
        _authority = new TestAuthority(_folder.FullName, "mail-ca", TimeProvider.System.GetUtcNow());
    }

    [TearDown]
    public void DeleteFolder()
    {
        _authority.Dispose();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Mail_goes_over_tls([Values] bool isImplicit, CancellationToken cancellationToken)
    {
        await using var server = new MailServer { Certificate = Issue("127.0.0.1"), IsImplicit = isImplicit };

        var failure = await SomeMail.Create(Config(server, isImplicit)).TryAsync(Some.Message(), cancellationToken);

        Assert.That((failure, server.Received.Count), Is.EqualTo(((object?)null, 1)));
    }

    [Test, Property("Case", "SMT-07")]
    public async Task Nothing_is_sent_where_the_server_offers_no_starttls(CancellationToken cancellationToken)
    {
        await using var server = new MailServer();

        var failure = await SomeMail.Create(Config(server)).TryAsync(Some.Message(), cancellationToken);

        Assert.That((failure!.Code, failure.IsOutage, server.Received.Count), Is.EqualTo(("ESB-SMTP-TLS", true, 0)));
        Assert.That(server.Commands, Has.None.StartsWith("MAIL").And.None.StartsWith("AUTH"));
    }

    [Property("Case", "SMT-07")]
    [TestCase("mail.example.org", "made out to", TestName = "Certificate_of_another_name_is_refused")]
    [TestCase("127.0.0.1", "no authority", TestName = "Certificate_of_an_unknown_authority_is_refused")]
    public async Task Untrusted_server_gets_nothing(string name, string reason, CancellationToken cancellationToken)
    {
        using var other = new TestAuthority(_folder.FullName, "other-ca", TimeProvider.System.GetUtcNow());
        await using var server = new MailServer { Certificate = Issue(name) };
        var config = Config(server);

        var failure = await SomeMail
            .Create(name == "127.0.0.1" ? config with { Tls = config.Tls with { Ca = other.File } } : config)
            .TryAsync(Some.Message(), cancellationToken);

        Assert.That((failure!.Code, server.Received.Count), Is.EqualTo(("ESB-SMTP-TLS", 0)));
        Assert.That(failure.Message, Does.Contain(reason));
    }

    [Test, Property("Case", "SMT-07")]
    public async Task Answers_injected_behind_that_to_starttls_are_not_used(CancellationToken cancellationToken)
    {
        await using var server = new MailServer
        {
            Certificate = Issue("127.0.0.1"),
            Login = "esb:right",
            Injected = "\r\n250-mail.test\r\n250 AUTH LOGIN", // to be told the password in another way
        };

        var failure = await SomeMail
            .Create(Config(server) with { User = "esb", Password = "right" })
            .TryAsync(Some.Message(), cancellationToken);

        Assert.That((failure, server.Received.Count), Is.EqualTo(((object?)null, 1)));
        Assert.That(server.Commands, Has.Some.StartsWith("AUTH PLAIN").And.None.StartsWith("AUTH LOGIN"), "what it says over TLS counts");
    }

    private X509Certificate2 Issue(string name) =>
        X509CertificateLoader.LoadPkcs12FromFile(_authority.Issue(name).Bundle, IssuedCertificate.Passphrase);

    private MailOutboundConfig Config(MailServer server, bool isImplicit = false) =>
        SomeMail.Config(server.Port) with
        {
            Url = $"{(isImplicit ? "smtps" : "smtp")}://127.0.0.1:{server.Port}",
            Tls = new MailTlsConfig { Ca = _authority.File },
        };
}
