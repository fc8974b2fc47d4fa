using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Tests.Workflows.Processes;

namespace Esb.Tests.Content.Codecs;

/// <summary>OpenPGP between the steps <c>decode</c> and <c>encode</c>, and <c>gpg</c>.</summary>
[CancelAfter(120_000)]
[System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
public sealed class PgpTests
{
    private const string Text = "Zwölf Boxkämpfer\njagen Viktor\n";

    private SecureKeyFiles _keys = null!;

    [OneTimeSetUp]
    public void MakeKeys()
    {
        _keys = new SecureKeyFiles();
        _keys.MakePgpKeys();
    }

    [OneTimeTearDown]
    public void DeleteKeys()
    {
        _keys.StopPgpAgent();
        _keys.Dispose();
    }

    [Test]
    public async Task Gpg_decrypts_and_verifies_what_the_bus_makes(CancellationToken cancellationToken)
    {
        var encoded = await RunAsync(
            """{ "encode": { "codec": "pgp", "sign": "${file:us.sec}", "passphrase": "${file:pass.txt}", "encrypt": "partner.pub" } }""",
            Some.Message(Text),
            cancellationToken
        );

        _keys.Write("made.asc", encoded.Body.Bytes.ToArray());
        _keys.Run("gpg", "--batch", "--yes", "--status-file", "status.txt", "--output", "made.txt", "--decrypt", "made.asc");

        Assert.That(Encoding.UTF8.GetString(_keys.Read("made.txt")), Is.EqualTo(Text));
        Assert.That(Encoding.UTF8.GetString(_keys.Read("status.txt")), Does.Contain("GOODSIG").And.Contain("DECRYPTION_OKAY"));
    }

    [TestCase("--armor"), TestCase("--no-armor")]
    public async Task Bus_decrypts_and_verifies_what_gpg_makes(string armor, CancellationToken cancellationToken)
    {
        _keys.Write("body.txt", Text);
        _keys.Run(
            "gpg",
            "--batch",
            "--yes",
            "--trust-model",
            "always",
            armor,
            "--sign",
            "--encrypt",
            "--local-user",
            "partner@example.org",
            "--recipient",
            "us@example.org",
            "--output",
            "theirs.pgp",
            "body.txt"
        );
        var theirs = Some.Message() with { Body = MessageBody.FromBytes(_keys.Read("theirs.pgp")) };

        var decoded = await RunAsync(Decode("us", "partner"), theirs, cancellationToken);

        Assert.That((decoded.Body.ReadText(), decoded.ContentType), Is.EqualTo((Text, (string?)null)));
    }

    [Test]
    public async Task Subkey_signs_where_the_secret_of_the_main_key_is_kept_elsewhere(CancellationToken cancellationToken)
    {
        _keys.MakeOfflinePgpKey();
        var encoded = await RunAsync(
            """{ "encode": { "codec": "pgp", "sign": "${file:offline.sec}" } }""",
            Some.Message(Text),
            cancellationToken
        );

        _keys.Write("offline.asc", encoded.Body.Bytes.ToArray());
        _keys.Run("gpg", "--batch", "--yes", "--status-file", "offline.txt", "--output", "signed.txt", "--decrypt", "offline.asc");

        Assert.That(Encoding.UTF8.GetString(_keys.Read("signed.txt")), Is.EqualTo(Text));
        Assert.That(Encoding.UTF8.GetString(_keys.Read("offline.txt")), Does.Contain("GOODSIG"));
    }

    [Test]
    public async Task What_is_not_as_it_has_to_be_is_refused_with_the_reason(CancellationToken cancellationToken)
    {
        var both = await RunAsync(
            """{ "encode": { "codec": "pgp", "sign": "${file:us.sec}", "passphrase": "${file:pass.txt}", "encrypt": "us.pub" } }""",
            Some.Message(Text),
            cancellationToken
        );
        var signed = await RunAsync(
            """{ "encode": { "codec": "pgp", "sign": "${file:us.sec}", "passphrase": "${file:pass.txt}" } }""",
            Some.Message(Text),
            cancellationToken
        );
        var encrypted = await RunAsync("""{ "encode": { "codec": "pgp", "encrypt": "us.pub" } }""", Some.Message(Text), cancellationToken);

        Assert.That((await RunAsync(Decode("us", "us"), both, cancellationToken)).Body.ReadText(), Is.EqualTo(Text));
        Assert.That(CodeOf(Decode("us", "partner"), both, cancellationToken), Is.EqualTo("ESB-SECURE-SIGNER"));
        Assert.That(CodeOf(Decode("partner", "us"), both, cancellationToken), Is.EqualTo("ESB-SECURE-KEY"));
        Assert.That(CodeOf(Decode("us", "us"), signed, cancellationToken), Is.EqualTo("ESB-SECURE-REQUIRED"));
        Assert.That(CodeOf(Decode("us", "us"), encrypted, cancellationToken), Is.EqualTo("ESB-SECURE-REQUIRED"));
        Assert.That(
            CodeOf(Decode("us", "us"), Some.Message("no pgp"), cancellationToken),
            Is.EqualTo("ESB-SECURE-FORMAT").Or.EqualTo("ESB-SECURE-REQUIRED")
        );
    }

    [
        TestCase("""{ "decode": { "codec": "pgp", "key": "${file:us.sec}" } }"""),
        TestCase("""{ "decode": { "codec": "pgp", "trust": "us.key" } }"""),
        TestCase("""{ "encode": { "codec": "pgp", "encrypt": "ca.pem" } }""")
    ]
    public void Key_that_cannot_be_used_is_found_before_a_message_comes(string step)
    {
        using var processes = Compile(step);

        Assert.That(processes.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { "ESB-CFG-CERT" }));
    }

    private static string Decode(string key, string trust) =>
        $$"""{ "decode": { "codec": "pgp", "key": "${file:{{key}}.sec}"{{(key == "us" ? ", \"passphrase\": "
            + "\"${file:pass.txt}\"" : "")}}, "trust": "{{trust}}.pub" } }""";

    private string CodeOf(string step, EsbMessage message, CancellationToken cancellationToken) =>
        Assert.CatchAsync<EsbException>(() => RunAsync(step, message, cancellationToken))!.Code;

    private async Task<EsbMessage> RunAsync(string step, EsbMessage message, CancellationToken cancellationToken)
    {
        using var processes = Compile(step);
        return (await processes.RunAsync(message, cancellationToken)).Message;
    }

    private CompiledProcesses Compile(string step)
    {
        foreach (var file in new[] { "us.sec", "partner.sec", "offline.sec", "us.pub", "partner.pub", "pass.txt", "us.key", "ca.pem" })
        {
            step = step.Replace($"file:{file}", $"file:{_keys.PathOf(file)}", StringComparison.Ordinal)
                .Replace($"\"{file}\"", $"\"{_keys.PathOf(file)}\"", StringComparison.Ordinal);
        }

        return new CompiledProcesses($$"""{ "main": [{{step}}] }""");
    }
}
