using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json.Nodes;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http.Access;

public sealed class TokenTests
{
    private const string Secret = "a secret of more than thirty-two bytes";

    private readonly RSA _rsa = RSA.Create(2048);
    private readonly ECDsa _ecdsa = ECDsa.Create(ECCurve.NamedCurves.nistP256);
    private readonly ManualTime _time = new();
    private DirectoryInfo _folder = null!;
    private HttpBus _bus = null!;

    private string KeyFile => Path.Combine(_folder.FullName, "keys.json");

    [SetUp]
    public void CreateBus()
    {
        _folder = Directory.CreateTempSubdirectory("esb-keys-");
        _bus = new HttpBus { Time = _time };
        _bus.Variables["SECRET"] = Secret;
        File.WriteAllText(KeyFile, SomeTokens.KeySet(SomeTokens.KeyOf(_rsa, "one"), SomeTokens.KeyOf(_ecdsa, "two")));
    }

    [TearDown]
    public async Task StopBus()
    {
        await _bus.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [OneTimeTearDown]
    public void DisposeKeys()
    {
        _rsa.Dispose();
        _ecdsa.Dispose();
    }

    [Test, CancelAfter(30_000)]
    public async Task Tokens_of_each_algorithm_are_taken(CancellationToken cancellationToken)
    {
        await StartAsync();

        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(), _rsa, "one"), cancellationToken), Is.EqualTo("shop"));
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(), _rsa), cancellationToken), Is.EqualTo("shop"), "without the id of its key");
        Assert.That(await AskAsync(SomeTokens.Es256(Claims(), _ecdsa, "two"), cancellationToken), Is.EqualTo("shop"));
        Assert.That(
            await AskAsync(SomeTokens.Hs256(Claims(("iss", "https://shared")), Encoding.UTF8.GetBytes(Secret)), cancellationToken),
            Is.EqualTo("partner")
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Party_is_known_by_its_claims(CancellationToken cancellationToken)
    {
        await StartAsync();

        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("sub", "other")), _rsa), cancellationToken), Is.EqualTo("other"));
        Assert.That(
            await AskAsync(SomeTokens.Rs256(Claims(("aud", new JsonArray("somebody", "bus"))), _rsa), cancellationToken),
            Is.EqualTo("shop"),
            "one of several audiences"
        );
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("sub", "stranger")), _rsa), cancellationToken), Is.Null);
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("sub", null)), _rsa), cancellationToken), Is.Null);
    }

    [Test, CancelAfter(30_000)]
    public async Task Token_says_neither_whether_it_is_signed_nor_how(CancellationToken cancellationToken)
    {
        await StartAsync();
        var modulus = _rsa.ExportParameters(includePrivateParameters: false).Modulus!;
        var publicKeys = new[]
        {
            File.ReadAllBytes(KeyFile),
            _rsa.ExportSubjectPublicKeyInfo(),
            Encoding.ASCII.GetBytes(_rsa.ExportSubjectPublicKeyInfoPem()),
            Encoding.ASCII.GetBytes(_rsa.ExportRSAPublicKeyPem()),
            modulus,
        };

        foreach (var none in new[] { "none", "None", "NONE", "" })
            Assert.That(
                await AskAsync(SomeTokens.Make(new JsonObject { ["alg"] = none }, Claims(), _ => []), cancellationToken),
                Is.Null,
                $"alg: {none}"
            );
        foreach (var key in publicKeys)
            Assert.That(await AskAsync(SomeTokens.Hs256(Claims(), key), cancellationToken), Is.Null, "a public key taken for a shared one");
        Assert.That(
            await AskAsync(SomeTokens.Hs256(Claims(), Encoding.UTF8.GetBytes(Secret)), cancellationToken),
            Is.Null,
            "the secret of another issuer"
        );
        Assert.That(
            await AskAsync(SomeTokens.Hs256(Claims(("iss", "https://shared")), Encoding.UTF8.GetBytes(Secret), "HS512"), cancellationToken),
            Is.Null,
            "an algorithm that was not agreed"
        );
        Assert.That(
            await AskAsync(SomeTokens.Rs256(Claims(("iss", "https://shared")), _rsa), cancellationToken),
            Is.Null,
            "an asymmetric one where a secret is shared"
        );
    }

    [Test, CancelAfter(30_000), Property("Case", "API-03")]
    public async Task Token_of_another_issuer_audience_or_key_is_refused(CancellationToken cancellationToken)
    {
        using var stranger = RSA.Create(2048);
        await StartAsync();
        var good = SomeTokens.Rs256(Claims(), _rsa, "one").Split('.');
        var others = SomeTokens.Rs256(Claims(("sub", "other")), _rsa, "one").Split('.');

        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(), stranger, "one"), cancellationToken), Is.Null);
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("iss", "https://login/")), _rsa), cancellationToken), Is.Null);
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("iss", null)), _rsa), cancellationToken), Is.Null);
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("aud", "busy")), _rsa), cancellationToken), Is.Null);
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("aud", null)), _rsa), cancellationToken), Is.Null);
        Assert.That(
            await AskAsync($"{good[0]}.{others[1]}.{good[2]}", cancellationToken),
            Is.Null,
            "claims of one token, signature of another"
        );
        Assert.That(await AskAsync($"{good[0]}.{good[1]}.", cancellationToken), Is.Null);
        Assert.That(
            await AskAsync(
                SomeTokens.Make(
                    new JsonObject
                    {
                        ["alg"] = "RS256",
                        ["crit"] = new JsonArray("b64"),
                        ["b64"] = true,
                    },
                    Claims(),
                    Sign
                ),
                cancellationToken
            ),
            Is.Null,
            "an extension that must be understood"
        );

        byte[] Sign(byte[] content) => _rsa.SignData(content, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
    }

    [
        TestCase(-29, null, true),
        TestCase(-31, null, false),
        TestCase(60, 29, true),
        TestCase(60, 31, false),
        TestCase(null, null, false),
        CancelAfter(30_000)
    ]
    public async Task Token_is_taken_in_its_time_give_or_take_the_skew(
        int? expires,
        int? begins,
        bool taken,
        CancellationToken cancellationToken
    )
    {
        await StartAsync();
        var now = _time.GetUtcNow();

        var party = await AskAsync(
            SomeTokens.Rs256(
                Claims(
                    ("exp", expires is null ? null : now.AddSeconds(expires.Value).ToUnixTimeSeconds()),
                    ("nbf", begins is null ? null : now.AddSeconds(begins.Value).ToUnixTimeSeconds())
                ),
                _rsa
            ),
            cancellationToken
        );

        Assert.That(party, Is.EqualTo(taken ? "shop" : null));
    }

    [Test, CancelAfter(30_000), Property("Case", "API-02")]
    public async Task Expiry_that_is_no_whole_number_counts(CancellationToken cancellationToken)
    {
        await StartAsync();
        var past = _time.GetUtcNow().AddMinutes(-5).ToUnixTimeSeconds();

        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("exp", past + 0.5)), _rsa), cancellationToken), Is.Null);
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("exp", $"{past}")), _rsa), cancellationToken), Is.Null);
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("exp", "never")), _rsa), cancellationToken), Is.Null);
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(("exp", -1)), _rsa), cancellationToken), Is.Null);
    }

    [
        TestCase("eyJhbGciOiJSUzI1NiJ9"),
        TestCase("a.b.c"),
        TestCase("..."),
        TestCase("...."),
        TestCase("eyJhbGciOiJSUzI1NiJ9.bm90IGpzb24.AAAA"),
        TestCase("eyJhbGciOiJSUzI1NiJ9.W10.AAAA"),
        TestCase("bnVsbA.bnVsbA.AAAA"),
        TestCase("e30.e30.e30"),
        TestCase("eyJ hbGci.e30.e30"),
        TestCase("\"e30\".e30.e30"),
        TestCase("e30.e30.e30.e30.e30"),
        CancelAfter(30_000)
    ]
    public async Task What_is_no_token_is_refused_like_a_wrong_one(string token, CancellationToken cancellationToken)
    {
        await StartAsync();

        Assert.That(await AskAsync(token, cancellationToken), Is.Null);
        Assert.That(_bus.Log.All.Where(line => line.Level > Microsoft.Extensions.Logging.LogLevel.Warning), Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Keys_that_are_renewed_are_used_without_a_restart(CancellationToken cancellationToken)
    {
        using var next = RSA.Create(2048);
        await StartAsync();
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(), next, "next"), cancellationToken), Is.Null);

        await File.WriteAllTextAsync(KeyFile, SomeTokens.KeySet(SomeTokens.KeyOf(next, "next")), cancellationToken);
        _time.Advance(TimeSpan.FromSeconds(6));

        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(), next, "next"), cancellationToken), Is.EqualTo("shop"));
        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(), _rsa, "one"), cancellationToken), Is.Null, "the old key is gone");
        Assert.That(
            _bus.Log.All.Select(line => line.Text),
            Has.One.Contains("the file with the keys of https://login has changed and is in use as of now")
        );
    }

    [TestCase("{ \"keys\": [", "it is neither a JSON Web Key Set nor PEM")]
    [TestCase("{ \"keys\": [{ \"kty\": \"RSA\", \"n\": \"***\", \"e\": \"AQAB\" }] }", "it holds a key that cannot be read")]
    [TestCase("{ \"keys\": [{ \"kty\": \"RSA\" }] }", "it holds a key")]
    [CancelAfter(30_000)]
    public async Task Renewed_file_that_cannot_be_used_leaves_the_keys_as_they_were(
        string text,
        string reason,
        CancellationToken cancellationToken
    )
    {
        await StartAsync();

        await File.WriteAllTextAsync(KeyFile, text, cancellationToken);
        for (var look = 0; look < 3; look++)
        {
            _time.Advance(TimeSpan.FromSeconds(6));
            Assert.That(await AskAsync(SomeTokens.Rs256(Claims(), _rsa, "one"), cancellationToken), Is.EqualTo("shop"));
        }

        Assert.That(_bus.Log.All.Select(line => line.Text), Has.One.Contains($"the previous content stays in use: {reason}"), "told once");
    }

    [Test, CancelAfter(30_000)]
    public async Task Keys_may_stand_in_pem(CancellationToken cancellationToken)
    {
        var request = new CertificateRequest("CN=login", _rsa, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        using var certificate = request.CreateSelfSigned(_time.GetUtcNow(), _time.GetUtcNow().AddDays(1));
        await File.WriteAllTextAsync(
            KeyFile,
            $"{certificate.ExportCertificatePem()}\n{_ecdsa.ExportSubjectPublicKeyInfoPem()}\n",
            cancellationToken
        );
        await StartAsync();

        Assert.That(await AskAsync(SomeTokens.Rs256(Claims(), _rsa), cancellationToken), Is.EqualTo("shop"));
        Assert.That(await AskAsync(SomeTokens.Es256(Claims(), _ecdsa), cancellationToken), Is.EqualTo("shop"));
    }

    private Task StartAsync()
    {
        var keys = $$""" "issuer": "https://login", "audience": "bus", "keys": "{{KeyFile}}" """;
        return _bus.StartAsync(
            """ "orders": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "authentication": ["jwt"] } """,
            $$"""
            , "parties": {
                "shop": { "tokens": [{ {{keys}}, "claims": { "sub": "shop" } }], "publish": ["orders.#"] },
                "other": { "tokens": [{ {{keys}}, "claims": { "sub": "other" } }], "publish": ["orders.#"] },
                "partner": { "tokens": [{ "issuer": "https://shared", "audience": "bus", "secret": "${env:SECRET}", "claims": { "sub": "shop" } }], "publish": ["orders.#"] }
            }
            """
        );
    }

    private JsonObject Claims(params (string Name, JsonNode? Value)[] changes)
    {
        var claims = SomeTokens.Claims(_time.GetUtcNow());
        foreach (var (name, value) in changes)
        {
            if (value is null)
                claims.Remove(name);
            else
                claims[name] = value;
        }

        return claims;
    }

    /// <summary>The party that a token is taken for; null where it is refused.</summary>
    private async Task<string?> AskAsync(string token, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/orders") { Content = new StringContent("<order/>") };
        request.Headers.TryAddWithoutValidation("Authorization", $"Bearer {token}");
        _bus.Published.Clear();
        using var answer = await _bus.Client.SendAsync(request, cancellationToken);
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted).Or.EqualTo(HttpStatusCode.Unauthorized));
        return answer.StatusCode == HttpStatusCode.Accepted ? _bus.Published.Single().Party : null;
    }
}
