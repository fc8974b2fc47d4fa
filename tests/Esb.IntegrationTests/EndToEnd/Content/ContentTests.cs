using System.Net;
using System.Text;

namespace Esb.IntegrationTests.EndToEnd.Content;

/// <summary>On the embedded default.</summary>
[Category("Thorough")]
[System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
public sealed class EmbeddedContentTests : ContentContract
{
    private protected override string Sections => "";

    [Test, Order(2)]
    public Task Items_that_were_committed_are_published_after_a_kill(CancellationToken cancellationToken) =>
        AssertPublishedAfterKillAsync(cancellationToken);
}

/// <summary>On RabbitMQ and PostgreSQL, with what partners send by MIME, S/MIME and OpenPGP.</summary>
[System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
public sealed class ServerContentTests : ContentContract
{
    private const string Text = "Zwölf Boxkämpfer jagen Viktor\n";

    private const string Mail =
        "--b1\r\nContent-Type: application/json\r\n\r\n{\"order\":1}\r\n--b1\r\nContent-Type: text/plain; name=\"note.txt\"\r\n"
        + "Content-Disposition: attachment; filename=\"../up/note.txt\"\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--b1--\r\n";

    private readonly string _name = $"content{Guid.NewGuid():N}"[..16];

    private protected override string Sections =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_name}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_name}}" },
            """;

    [Test, Order(2), Category("Thorough")] // the claims of the killed host end after 20 s
    public Task Items_that_were_committed_are_published_after_a_kill(CancellationToken cancellationToken) =>
        AssertPublishedAfterKillAsync(cancellationToken);

    [Test]
    public async Task Parts_of_a_mail_are_published_under_their_names_and_the_whole_is_made_again(CancellationToken cancellationToken)
    {
        var body = ContentFixture.BytesOf(Encoding.ASCII.GetBytes(Mail), "multipart/mixed; boundary=b1");

        var (status, answer) = await Fixture.PostAsync("/mime", body, cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.OK), answer);
        Assert.That(answer, Does.Contain(Convert.ToBase64String("""{"order":1}"""u8)).And.Contain("filename=note.txt"));
        var files = await Fixture.WaitForFilesAsync("parts", 1, cancellationToken);
        Assert.That(files, Is.EqualTo(new Dictionary<string, string> { ["note.txt"] = "hello" }));
    }

    [Test]
    public async Task Mail_that_openssl_signed_and_encrypted_comes_from_the_party_of_its_certificate(CancellationToken cancellationToken)
    {
        var keys = Fixture.Keys;
        keys.Write("order.txt", Text);
        keys.Run("openssl", "smime", "-sign", "-in", "order.txt", "-signer", "partner.pem", "-inkey", "partner.key", "-out", "signed.eml");
        keys.Run("openssl", "smime", "-encrypt", "-aes256", "-in", "signed.eml", "-out", "theirs.eml", "us.pem");
        keys.Run("openssl", "smime", "-encrypt", "-aes256", "-in", "order.txt", "-out", "unsigned.eml", "us.pem");

        var (status, answer) = await Fixture.PostAsync("/smime", Mime("theirs.eml"), cancellationToken);
        var unsigned = await Fixture.PostAsync("/smime", Mime("unsigned.eml"), cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.OK), answer);
        Assert.That(answer, Does.StartWith("acme: ").And.Contain("Boxk"));
        Assert.That(unsigned.Status, Is.EqualTo(HttpStatusCode.UnprocessableEntity));
        Assert.That(unsigned.Body, Does.Contain("ESB-SECURE-REQUIRED"));
    }

    [Test]
    public async Task Openssl_decrypts_and_verifies_an_answer(CancellationToken cancellationToken)
    {
        var keys = Fixture.Keys;

        var (status, answer) = await Fixture.PostAsync("/smime-sign", """{"order":1}""", cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.OK), answer);
        keys.Write("ours.eml", answer);
        keys.Run("openssl", "smime", "-decrypt", "-in", "ours.eml", "-recip", "partner.pem", "-inkey", "partner.key", "-out", "opened.eml");
        keys.Run("openssl", "smime", "-verify", "-in", "opened.eml", "-CAfile", "ca.pem", "-out", "ours.txt");
        Assert.That(
            Encoding.UTF8.GetString(keys.Read("ours.txt")),
            Does.Contain("application/json").And.Contain(Convert.ToBase64String("""{"order":1}"""u8))
        );
    }

    [Test]
    public async Task Gpg_and_the_host_read_each_other(CancellationToken cancellationToken)
    {
        var keys = Fixture.Keys;
        keys.Write("order.txt", Text);
        keys.Run(
            "gpg",
            [
                "--batch",
                "--yes",
                "--trust-model",
                "always",
                "--armor",
                "--sign",
                "--encrypt",
                "--local-user",
                "partner@example.org",
                "--recipient",
                "us@example.org",
                "--output",
                "theirs.pgp",
                "order.txt",
            ]
        );

        var theirs = await Fixture.PostAsync("/pgp", ContentFixture.BytesOf(keys.Read("theirs.pgp"), "text/plain"), cancellationToken);
        var refused = await Fixture.PostAsync("/pgp", ContentFixture.BytesOf("no OpenPGP"u8.ToArray(), "text/plain"), cancellationToken);
        var ours = await Fixture.PostAsync("/pgp-make", """{"order":1}""", cancellationToken);

        Assert.That(theirs, Is.EqualTo((HttpStatusCode.OK, Text)), Fixture.Host.Output);
        Assert.That((int)refused.Status, Is.InRange(400, 422), refused.Body);
        Assert.That(ours.Status, Is.EqualTo(HttpStatusCode.OK), ours.Body);
        keys.Write("ours.asc", ours.Body);
        keys.Run("gpg", "--batch", "--yes", "--status-file", "status.txt", "--output", "ours.json", "--decrypt", "ours.asc");
        Assert.That(Encoding.UTF8.GetString(keys.Read("ours.json")), Is.EqualTo("""{"order":1}"""));
        Assert.That(Encoding.UTF8.GetString(keys.Read("status.txt")), Does.Contain("GOODSIG"));
    }

    private HttpContent Mime(string file) => ContentFixture.BytesOf(Fixture.Keys.Read(file), "message/rfc822");
}
