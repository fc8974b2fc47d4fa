namespace Esb.Tests.Parties;

/// <summary>What is wrong with parties, endpoints and listeners is told at the start, all at once, and without the secrets.</summary>
public sealed class PartyCheckTests
{
    private const string Key = "a key of enough characters";
    private const string In = """ "type": "http-inbound", "path": "/in", "publish": "orders.new" """;

    private static readonly (string, string)[] Variables =
    [
        ("KEY", Key),
        ("OTHER", "another key of enough characters"),
        ("SHORT", "short"),
        ("SHARED", new string('s', 32)),
        ("LONGEST", new string('l', 1024)),
        ("LONG", new string('ä', 513)),
    ];

    [
        TestCase(""" "apiKeys": ["${env:SHORT}"] """, "ESB-CFG-PARTY parties.shop.apiKeys"),
        TestCase(""" "signatureKeys": ["${env:SHORT}"] """, "ESB-CFG-PARTY parties.shop.signatureKeys")
    ]
    [
        TestCase(
            """ "apiKeys": ["${env:LONGEST}", "${env:LONG}"], "signatureKeys": ["${env:LONG}"] """,
            "ESB-CFG-PARTY parties.shop.apiKeys"
        ),
        TestCase(""" "apiKeys": ["${env:LONGEST}"], "users": [{ "user": "a", "password": "${env:LONGEST}" }] """)
    ]
    [
        TestCase(""" "users": [{ "user": "a", "password": "${env:LONG}" }] """, "ESB-CFG-PARTY parties.shop.users[0].password"),
        TestCase(""" "users": [{ "user": "${env:LONG}", "password": "${env:KEY}" }] """, "ESB-CFG-PARTY parties.shop.users[0].user")
    ]
    [
        TestCase(""" "apiKeys": ["in clear text, and long"] """, "ESB-CFG-CLEARSECRET parties.shop.apiKeys[0]"),
        TestCase(""" "apiKeys": ["${env:MISSING}"] """, "ESB-CFG-ENV parties.shop.apiKeys[0]")
    ]
    [
        TestCase(""" "users": [{ "user": "a:b", "password": "${env:KEY}" }] """, "ESB-CFG-PARTY parties.shop.users[0].user"),
        TestCase(""" "users": [{ "user": "a", "password": "clear" }] """, "ESB-CFG-CLEARSECRET parties.shop.users[0].password")
    ]
    [
        TestCase(""" "certificates": [{ "thumbprint": "AB:CD" }] """, "ESB-CFG-PARTY parties.shop.certificates[0].thumbprint"),
        TestCase(""" "certificates": [{ "subject": "CN=shop" }] """, "ESB-CFG-PARTY parties.shop.certificates[0].ca")
    ]
    [TestCase(
        """ "certificates": [{ "subject": "shop", "ca": "missing.pem" }] """,
        "ESB-CFG-PARTY parties.shop.certificates[0].subject",
        "ESB-CFG-CERT parties.shop.certificates[0].ca"
    )]
    [TestCase(
        """ "tokens": [{ "issuer": "", "audience": "", "secret": "${env:SHORT}", "claims": {} }] """,
        "ESB-CFG-PARTY parties.shop.tokens[0].issuer",
        "ESB-CFG-PARTY parties.shop.tokens[0].audience",
        "ESB-CFG-PARTY parties.shop.tokens[0].claims",
        "ESB-CFG-PARTY parties.shop.tokens[0].secret",
        Description = "API-04"
    )]
    [TestCase(
        """ "tokens": [{ "issuer": "i", "audience": "a", "keys": "missing.json", "secret": "${env:SHARED}", "claims": { "sub": "a" } }] """,
        "ESB-CFG-ONEOF parties.shop.tokens[0]"
    )]
    [TestCase(
        """ "tokens": [{ "issuer": "i", "audience": "a", "keys": "missing.json", "claims": { "sub": "a" } }] """,
        "ESB-CFG-KEYS parties.shop.tokens[0].keys"
    )]
    [TestCase(""" "publish": ["nothing.#"] """, "ESB-CFG-REF parties.shop.publish[0]")]
    public Task Weak_or_incomplete_credentials_are_refused(string party, params string[] expected) =>
        ExpectAsync(Parties($$""" "shop": { {{party}} } """), expected);

    [
        TestCase(""" "apiKeys": ["${env:KEY}"] """, "apiKeys"),
        TestCase(""" "signatureKeys": ["${env:KEY}"] """, "signatureKeys"),
        TestCase(""" "users": [{ "user": "u", "password": "${env:KEY}" }] """, "users[0].user")
    ]
    [TestCase(
        """ "tokens": [{ "issuer": "i", "audience": "a", "secret": "${env:SHARED}", "claims": { "sub": "a", "x": "y" } }] """,
        "tokens[0].claims"
    )]
    public Task What_two_parties_share_tells_neither(string credential, string place) =>
        ExpectAsync(Parties($$""" "shop": { {{credential}} }, "thief": { {{credential}} } """), $"ESB-CFG-PARTY parties.thief.{place}");

    [
        TestCase(""" "parties": ["shop"] """, "ESB-CFG-ACCESS endpoints.in.parties"),
        TestCase(""" "authentication": ["basic"] """, "ESB-CFG-ACCESS endpoints.in.authentication"),
        TestCase(""" "authentication": ["basic"], "parties": ["shop"] """, "ESB-CFG-ACCESS endpoints.in.parties")
    ]
    [
        TestCase(""" "authentication": ["api-key"], "party": "shop" """, "ESB-CFG-ACCESS endpoints.in.party"),
        TestCase(""" "authentication": ["api-key"], "parties": ["stop"] """, "ESB-CFG-REF endpoints.in.parties[0]")
    ]
    [
        TestCase(""" "authentication": ["api-key", "certificate"] """, "ESB-CFG-ACCESS endpoints.in.authentication"),
        TestCase(""" "authentication": ["api-key", "signature"] """, "ESB-CFG-ACCESS endpoints.in.authentication"),
        TestCase(""" "authentication": ["password"] """, "ESB-CFG-VALUE endpoints.in.authentication[0]")
    ]
    [TestCase(
        """ "authentication": ["signature"], "signature": { "content": "{body}", "header": "not a name" } """,
        "ESB-CFG-HEADER endpoints.in.signature.header",
        "ESB-CFG-ACCESS endpoints.in.signature.content"
    )]
    [
        TestCase(""" "apiKeyHeader": "esb-key" """, "ESB-CFG-HEADER endpoints.in.apiKeyHeader"),
        TestCase(
            """ "rateLimit": { "calls": 0, "per": "5" } """,
            "ESB-CFG-RANGE endpoints.in.rateLimit.calls",
            "ESB-CFG-DURATION endpoints.in.rateLimit.per"
        )
    ]
    [TestCase(""" "party": "guest" """, "ESB-CFG-PARTY endpoints.in.publish")]
    public Task Endpoint_that_nobody_or_anybody_could_call_is_refused(string settings, params string[] expected) =>
        ExpectAsync(With($$""" "in": { {{In}}, {{settings}} } """), expected);

    [
        TestCase("""["orders.new"]""", false),
        TestCase("""["orders.new.late"]""", false),
        TestCase("""["orders.*"]""", true),
        TestCase("""["orders.new", "orders.#"]""", true)
    ]
    public Task Endpoint_subscribes_to_what_its_party_may(string subscribe, bool refused) =>
        ExpectAsync(
            Parties(
                """ "shop": { "subscribe": ["orders.new.#"] } """,
                $$""", "endpoints": { "out": { "type": "http-outbound", "url": "http://localhost:1", "party": "shop", "subscribe": {{subscribe}} } } """
            ),
            refused ? ["ESB-CFG-PARTY endpoints.out.subscribe"] : []
        );

    [Test]
    public async Task Credentials_do_not_cross_a_network_in_clear()
    {
        var endpoint = $$""" "in": { {{In}}, "authentication": ["api-key"] } """;

        await ExpectAsync(
            With(endpoint, """, "listeners": { "public": { "url": "http://0.0.0.0:8080" } }"""),
            "ESB-CFG-INSECURE listeners.public.url"
        );
        await ExpectAsync(With(endpoint, """, "listeners": { "public": { "url": "http://0.0.0.0:8080", "allowInsecure": true } }"""));
        await ExpectAsync(With($$""" "in": { {{In}} } """, """, "listeners": { "public": { "url": "http://0.0.0.0:8080" } }"""));
    }

    [
        TestCase(""" "url": "https://localhost:8443" """, "ESB-CFG-URL listeners.public.url"),
        TestCase(
            """ "url": "http://localhost:8080", "tls": { "certificate": "missing.pem" } """,
            "ESB-CFG-CERT listeners.public.tls.certificate",
            "ESB-CFG-URL listeners.public.url"
        )
    ]
    [TestCase(
        """ "url": "https://localhost:8443", "tls": { "certificate": "missing.pem", "clientCertificates": "required", "minimumVersion": "1.1" } """,
        "ESB-CFG-VALUE listeners.public.tls.minimumVersion",
        "ESB-CFG-CERT listeners.public.tls.certificate",
        "ESB-CFG-REQUIRED listeners.public.tls.clientCa"
    )]
    public Task Listener_whose_tls_cannot_work_is_refused(string listener, params string[] expected) =>
        ExpectAsync(With($$""" "in": { {{In}} } """, $$""", "listeners": { "public": { {{listener}} } } """), expected);

    [Test]
    public Task Management_speaks_no_tls() =>
        ExpectAsync(
            With($$""" "in": { {{In}} } """, """, "management": { "url": "https://127.0.0.1:8081" } """),
            "ESB-CFG-URL management.url"
        );

    [
        TestCase(""" "tls": { "ca": "missing.pem" } """, "ESB-CFG-CERT endpoints.out.tls.ca"),
        TestCase(""" "tls": { "serverName": "not a name" } """, "ESB-CFG-VALUE endpoints.out.tls.serverName"),
        TestCase(""" "tls": { "verify": false } """, "ESB-CFG-UNKNOWN endpoints.out.tls.verify")
    ]
    [
        TestCase(
            """ "authentication": { "type": "basic", "user": "a", "password": "clear" } """,
            "ESB-CFG-CLEARSECRET endpoints.out.authentication.password"
        ),
        TestCase(""" "authentication": { "type": "bearer", "file": "missing" } """, "ESB-CFG-KEYS endpoints.out.authentication.file")
    ]
    [
        TestCase(
            """ "authentication": { "type": "api-key", "header": "a b", "key": "${env:KEY}" } """,
            "ESB-CFG-HEADER endpoints.out.authentication.header"
        ),
        TestCase(""" "authentication": { "type": "digest" } """, "ESB-CFG-VALUE endpoints.out.authentication.type")
    ]
    public Task Target_that_cannot_be_reached_so_is_refused(string settings, params string[] expected) =>
        ExpectAsync(With($$""" "out": { "type": "http-outbound", "url": "https://somewhere", {{settings}} } """), expected);

    private static string Parties(string parties, string more = "") =>
        $$"""{ "topics": { "orders": {} }, "parties": { {{parties}} }{{more}} }""";

    private static string With(string endpoints, string more = "") =>
        Parties(
            """ "shop": { "apiKeys": ["${env:KEY}"], "signatureKeys": ["${env:KEY}"], "publish": ["orders.#"] }, "guest": { "apiKeys": ["${env:OTHER}"] } """,
            $$""", "endpoints": { {{endpoints}} }{{more}}"""
        );

    private static async Task ExpectAsync(string configuration, params string[] expected)
    {
        var errors = await PartyConfigurations.CheckAsync(configuration, Variables);

        Assert.That(errors.Select(error => $"{error.Code} {error.Path}"), Is.EquivalentTo(expected), string.Join("\n", errors));
        foreach (var (_, secret) in Variables)
            Assert.That(string.Join("\n", errors), Does.Not.Contain(secret + "\""));
    }
}
