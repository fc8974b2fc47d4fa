using System.Runtime.Versioning;
using Esb.Core.Configuration;
using Esb.Tests.Fakes;

namespace Esb.Tests.Topics;

/// <summary>Certificates that prove nothing are refused before anything connects, and the reason is said.</summary>
public sealed class CertificateTests : TopicsFixture
{
    private static readonly DateTimeOffset Now = new ManualTime().GetUtcNow();

    private DirectoryInfo _folder = null!;
    private TestAuthority _authority = null!;

    [OneTimeSetUp]
    public void CreateAuthority()
    {
        _folder = Directory.CreateTempSubdirectory("esb-");
        _authority = new TestAuthority(_folder.FullName, "authority", Now);
    }

    [OneTimeTearDown]
    public void DeleteAuthority()
    {
        _authority.Dispose();
        _folder.Delete(recursive: true);
    }

    [Test]
    public void Certificates_in_every_form_are_taken()
    {
        var client = _authority.Issue("client", isClient: true);
        var both = Path.Combine(_folder.FullName, "both.pem");
        SecretText.Write(both, File.ReadAllText(client.Certificate) + "\n" + File.ReadAllText(client.Key));

        Assert.Multiple(() =>
        {
            Assert.That(CheckTls($$""" "ca": "{{_authority.File}}", "serverName": "broker" """), Is.Empty);
            Assert.That(CheckTls($$""" "certificate": "{{client.Certificate}}", "key": "{{client.Key}}" """), Is.Empty);
            Assert.That(
                CheckTls(
                    $$""" "certificate": "{{client.Certificate}}", "key": "{{client.LockedKey}}", "passphrase": "${env:PASSPHRASE}" """
                ),
                Is.Empty
            );
            Assert.That(CheckTls($$""" "certificate": "{{client.Bundle}}", "passphrase": "${env:PASSPHRASE}" """), Is.Empty);
            Assert.That(CheckTls($$""" "certificate": "{{both}}" """), Is.Empty);
        });
    }

    [Test, Platform(Exclude = "Win"), UnsupportedOSPlatform("windows")]
    public void A_key_that_others_can_read_is_refused()
    {
        var open = _authority.Issue("open", isClient: true);
        File.SetUnixFileMode(open.Key, UnixFileMode.UserRead | UnixFileMode.OtherRead);

        Assert.That(
            CheckTls($$""" "certificate": "{{open.Certificate}}", "key": "{{open.Key}}" """),
            Has.One.Property("Expected").Contains("has a key that can be read or written by everybody")
        );
    }

    [Test, Property("Case", "CFG-29")]
    public void A_wrong_passphrase_is_said()
    {
        var client = _authority.Issue("client", isClient: true);

        Expect($$""" "certificate": "{{client.Bundle}}" """, "certificate", "cannot be opened: the passphrase is wrong");
        Expect(
            $$""" "certificate": "{{client.Certificate}}", "key": "{{client.LockedKey}}" """,
            "certificate",
            "has a key that cannot be opened: the passphrase is wrong"
        );
    }

    [Test, Property("Case", "CFG-29")]
    public void The_dates_of_a_certificate_out_of_time_are_said()
    {
        var expired = _authority.Issue("client", fromDay: -3, toDay: -1);
        var early = _authority.Issue("client", fromDay: 1, toDay: 3);

        Expect($$""" "certificate": "{{expired.Certificate}}", "key": "{{expired.Key}}" """, "certificate", $"expired on {Day(-1)}");
        Expect(
            $$""" "certificate": "{{early.Bundle}}", "passphrase": "${env:PASSPHRASE}" """,
            "certificate",
            $"is not valid before {Day(1)}"
        );
        Expect($$""" "ca": "{{expired.Certificate}}" """, "ca", $"expired on {Day(-1)}");
    }

    [Test, Property("Case", "CFG-29")]
    public void A_missing_key_and_that_of_another_are_said()
    {
        var client = _authority.Issue("client", isClient: true);
        var other = _authority.Issue("other", isClient: true);

        Expect($$""" "certificate": "{{client.Certificate}}" """, "certificate", "has no private key");
        Expect($$""" "certificate": "{{client.KeylessBundle}}", "passphrase": "${env:PASSPHRASE}" """, "certificate", "has no private key");
        Expect($$""" "certificate": "{{client.Certificate}}", "key": "{{other.Key}}" """, "certificate", "does not belong to its key");
        Expect(
            $$""" "certificate": "{{client.Certificate}}", "key": "{{other.LockedKey}}", "passphrase": "${env:PASSPHRASE}" """,
            "certificate",
            "does not belong to its key"
        );
    }

    [Test, Property("Case", "CFG-29")]
    public void What_is_no_certificate_is_said()
    {
        var text = Path.Combine(_folder.FullName, "text.pem");
        File.WriteAllText(text, "no certificate");

        Expect($$""" "ca": "{{text}}" """, "ca", "holds no certificate in PEM");
        Expect($$""" "ca": "{{text}}.none" """, "ca", "does not exist");
        Expect($$""" "certificate": "{{text}}" """, "certificate", "neither PEM nor PKCS #12");
        Expect($$""" "certificate": "{{_folder.FullName}}" """, "certificate", "cannot be read");
    }

    [Test, Property("Case", "CFG-28")]
    public void Another_machine_is_reached_in_the_clear_only_when_that_is_allowed()
    {
        const string Plain = """{ "transport": { "type": "rabbitmq", "url": "amqp://bus@broker.example" } }""";

        Assert.That(Check(Plain).Single().Code, Is.EqualTo("ESB-CFG-INSECURE"));
        Assert.That(Check(Plain.Replace("} }", """, "allowInsecure": true } }""")), Is.Empty);
        Assert.That(Check(Plain.Replace("amqp:", "amqps:")), Is.Empty);
    }

    [Test]
    public void Certificates_beside_an_address_without_tls_are_refused() =>
        Assert.That(
            Check("""{ "transport": { "type": "rabbitmq", "url": "amqp://localhost", "tls": { "serverName": "broker" } } }""")
                .Select(error => error.Code),
            Is.EqualTo(new[] { "ESB-CFG-URL" })
        );

    private static string Day(int days) => Now.AddDays(days).ToString("yyyy-MM-dd");

    private void Expect(string tls, string property, string fault)
    {
        var error = CheckTls(tls).Single();
        Assert.That((error.Code, error.Path), Is.EqualTo(("ESB-CFG-CERT", $"transport.tls.{property}")), tls);
        Assert.That(error.Expected, Does.Contain(fault));
    }

    private IReadOnlyList<ConfigError> CheckTls(string tls) =>
        Check($$"""{ "transport": { "type": "rabbitmq", "url": "amqps://localhost", "tls": { {{tls}} } } }""");
}
