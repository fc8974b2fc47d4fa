using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Tests.Workflows.Processes;

namespace Esb.Tests.Content.Codecs;

/// <summary>S/MIME between the steps <c>decode</c> and <c>encode</c>, and <c>openssl smime</c>.</summary>
[CancelAfter(60_000)]
[System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
public sealed class SmimeTests
{
    private const string Text = "Zwölf Boxkämpfer\r\njagen Viktor\r\n";

    private SecureKeyFiles _keys = null!;

    [OneTimeSetUp]
    public void MakeKeys() => _keys = new SecureKeyFiles();

    [OneTimeTearDown]
    public void DeleteKeys() => _keys.Dispose();

    [TestCase("\"sign\": \"${file:us.key}\", \"encrypt\": \"partner.pem\"", "\"key\": \"${file:partner.key}\", \"trust\": \"ca.pem\"")]
    [TestCase("\"sign\": \"${file:us.key}\"", "\"trust\": \"ca.pem\"")]
    [TestCase("\"encrypt\": [\"partner.pem\", \"us.pem\"]", "\"key\": \"${file:us.key}\"")]
    [TestCase(
        "\"sign\": \"${file:us.key}\", \"encrypt\": \"partner.pem\", \"headers\": true",
        "\"key\": \"${file:partner.key}\", \"trust\": \"ca.pem\", \"require\": \"both\""
    )]
    public async Task What_is_encoded_decodes_to_the_same(string encode, string decode, CancellationToken cancellationToken)
    {
        var message = Some.Message(Text, contentType: "text/plain; charset=utf-8");

        var encoded = await RunAsync($$"""{ "encode": { "codec": "smime", {{encode}} } }""", message, cancellationToken);
        var decoded = await RunAsync($$"""{ "decode": { "codec": "smime", {{decode}} } }""", encoded.Message, cancellationToken);

        Assert.That((decoded.Message.Body.ReadText(), decoded.Message.ContentType), Is.EqualTo((Text, "text/plain; charset=utf-8")));
        Assert.That(encoded.Message.Body.ReadText(), Does.Not.Contain("Boxk"));
    }

    [Test]
    public async Task Openssl_decrypts_and_verifies_what_the_bus_makes(CancellationToken cancellationToken)
    {
        var encoded = await RunAsync(
            """{ "encode": { "codec": "smime", "sign": "${file:us.key}", "encrypt": "partner.pem", "headers": true } }""",
            Some.Message(Text, contentType: "text/plain"),
            cancellationToken
        );

        _keys.Write("made.eml", encoded.Message.Body.Bytes.ToArray());
        _keys.Run(
            "openssl",
            "smime",
            "-decrypt",
            "-in",
            "made.eml",
            "-recip",
            "partner.pem",
            "-inkey",
            "partner.key",
            "-out",
            "signed.eml"
        );
        _keys.Run("openssl", "smime", "-verify", "-in", "signed.eml", "-CAfile", "ca.pem", "-out", "content.eml");

        Assert.That(Encoding.UTF8.GetString(_keys.Read("content.eml")), Does.Contain(Convert.ToBase64String(Encoding.UTF8.GetBytes(Text))));
    }

    [TestCase(false), TestCase(true)]
    public async Task Bus_decrypts_and_verifies_what_openssl_makes(bool isOpaque, CancellationToken cancellationToken)
    {
        _keys.Write("body.txt", Text);
        _keys.Run(
            "openssl",
            [
                "smime",
                "-sign",
                "-text",
                .. isOpaque ? new[] { "-nodetach" } : [],
                "-in",
                "body.txt",
                "-signer",
                "partner.pem",
                "-inkey",
                "partner.key",
                "-out",
                "theirs.eml",
            ]
        );
        _keys.Run("openssl", "smime", "-encrypt", "-aes256", "-in", "theirs.eml", "-out", "theirs.p7m", "us.pem");

        var decoded = await RunAsync(
            """{ "decode": { "codec": "smime", "key": "${file:us.key}", "trust": "ca.pem", "require": "both" } }""",
            Of(_keys.Read("theirs.p7m")),
            cancellationToken
        );

        Assert.That((decoded.Message.Body.ReadText(), decoded.Message.ContentType), Is.EqualTo((Text, "text/plain")));
    }

    [Test, Property("Case", "F206")]
    public async Task Signer_makes_the_party_that_lists_its_certificate(CancellationToken cancellationToken)
    {
        var signed = await RunAsync(
            """{ "encode": { "codec": "smime", "sign": "${file:partner.key}" } }""",
            Some.Message(Text),
            cancellationToken
        );
        var decode = """{ "decode": { "codec": "smime", "trust": "ca.pem" } }""";

        var known = await RunAsync(decode, signed.Message, cancellationToken, PartyWith("partner"));
        var unknown = Assert.ThrowsAsync<EsbException>(() => RunAsync(decode, signed.Message, cancellationToken, PartyWith("us")))!;

        Assert.That((known.Message.Party, known.ProvenParty), Is.EqualTo(("acme", "acme")));
        Assert.That((unknown.Code, unknown.Kind), Is.EqualTo(("ESB-SECURE-SIGNER", FaultKind.Invalid)));
    }

    [Test]
    public async Task What_is_not_as_it_has_to_be_is_refused_with_the_reason(CancellationToken cancellationToken)
    {
        var signed = await EncodeAsync("\"sign\": \"${file:us.key}\"", cancellationToken);
        var stranger = await EncodeAsync("\"sign\": \"${file:stranger.key}\"", cancellationToken);
        var encrypted = await EncodeAsync("\"encrypt\": \"partner.pem\"", cancellationToken);
        var changed = Of(
            Encoding.UTF8.GetBytes(
                signed
                    .Body.ReadText()
                    .Replace(Convert.ToBase64String(Encoding.UTF8.GetBytes(Text))[..8], "AAAAAAAA", StringComparison.Ordinal)
            )
        ) with
        {
            ContentType = signed.ContentType,
        };

        var trust = "\"trust\": \"ca.pem\"";
        var key = "\"key\": \"${file:us.key}\"";
        Assert.That(CodeOf(trust, changed, cancellationToken), Is.EqualTo("ESB-SECURE-SIGNATURE"));
        Assert.That(CodeOf(trust, stranger, cancellationToken), Is.EqualTo("ESB-SECURE-SIGNER"));
        Assert.That(CodeOf(trust, encrypted, cancellationToken), Is.EqualTo("ESB-SECURE-KEY"));
        Assert.That(CodeOf(key, encrypted, cancellationToken), Is.EqualTo("ESB-SECURE-KEY"));
        Assert.That(CodeOf(key, signed, cancellationToken), Is.EqualTo("ESB-SECURE-REQUIRED"));
        Assert.That(CodeOf(trust, Some.Message(Text, contentType: "text/plain"), cancellationToken), Is.EqualTo("ESB-SECURE-REQUIRED"));
        Assert.That(
            CodeOf(trust, signed with { Body = MessageBody.FromBytes(signed.Body.Bytes[..200]) }, cancellationToken),
            Is.EqualTo("ESB-SECURE-FORMAT")
        );
        Assert.That(
            CodeOf(key, encrypted with { Body = MessageBody.FromText("0garbage") }, cancellationToken),
            Is.EqualTo("ESB-SECURE-FORMAT")
        );
        Assert.That(CodeOf(key, encrypted with { Body = MessageBody.FromText("!!") }, cancellationToken), Is.EqualTo("ESB-SECURE-FORMAT"));
    }

    [
        TestCase("""{ "decode": "smime" }""", "ESB-CFG-REQUIRED"),
        TestCase("""{ "decode": { "codec": "smime", "trust": "ca.pem", "require": "encrypted" } }""", "ESB-CFG-REQUIRED"),
        TestCase("""{ "decode": { "codec": "smime", "trust": "us.key" } }""", null)
    ]
    [
        TestCase("""{ "decode": { "codec": "smime", "trust": "none.pem" } }""", "ESB-CFG-CERT"),
        TestCase("""{ "decode": { "codec": "gzip", "trust": "ca.pem" } }""", "ESB-CFG-VALUE"),
        TestCase("""{ "encode": "smime" }""", "ESB-CFG-REQUIRED")
    ]
    [
        TestCase("""{ "encode": { "codec": "smime", "sign": "${file:ca.key}" } }""", "ESB-CFG-SECRETFILE"),
        TestCase("""{ "encode": { "codec": "base64", "encrypt": "us.pem" } }""", "ESB-CFG-VALUE"),
        TestCase("""{ "encode": { "codec": "smime", "encrypt": "none.pem" } }""", "ESB-CFG-CERT")
    ]
    public void Mistake_is_found_before_a_message_comes(string step, string? code)
    {
        using var processes = Compile(step);

        Assert.That(processes.Errors.All.Select(error => error.Code), code is null ? Is.Empty : Has.Some.EqualTo(code));
    }

    private static string PartyWith(string name) =>
        $$""" "parties": { "acme": { "certificates": [{ "thumbprint": "THUMBPRINT-{{name}}" }], "publish": ["orders.#"] } }, """;

    private static EsbMessage Of(byte[] body) => Some.Message() with { Body = MessageBody.FromBytes(body), ContentType = null };

    private async Task<EsbMessage> EncodeAsync(string settings, CancellationToken cancellationToken) =>
        (await RunAsync($$"""{ "encode": { "codec": "smime", {{settings}} } }""", Some.Message(Text), cancellationToken)).Message;

    private string CodeOf(string settings, EsbMessage message, CancellationToken cancellationToken) =>
        Assert
            .CatchAsync<EsbException>(() => RunAsync($$"""{ "decode": { "codec": "smime", {{settings}} } }""", message, cancellationToken))!
            .Code;

    private async Task<MessageContext> RunAsync(string step, EsbMessage message, CancellationToken cancellationToken, string sections = "")
    {
        using var processes = Compile(step, sections);
        return await processes.RunAsync(message, cancellationToken);
    }

    // Paths are relative to the file of the configuration, which the fixture of processes writes elsewhere.
    private CompiledProcesses Compile(string step, string sections = "")
    {
        foreach (var file in new[] { "us.key", "partner.key", "stranger.key", "ca.key", "us.pem", "partner.pem", "ca.pem", "none.pem" })
        {
            step = step.Replace($"file:{file}", $"file:{_keys.PathOf(file)}", StringComparison.Ordinal)
                .Replace($"\"{file}\"", $"\"{_keys.PathOf(file)}\"", StringComparison.Ordinal);
        }

        foreach (var (name, thumbprint) in _keys.Thumbprints)
            sections = sections.Replace($"THUMBPRINT-{name}", thumbprint, StringComparison.Ordinal);
        return new CompiledProcesses($$"""{ "main": [{{step}}] }""", sections: sections);
    }
}
