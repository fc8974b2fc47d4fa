using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;

namespace Esb.Tests.Endpoints.Http.Access;

[Property("Case", "HTP-16")]
public sealed class SignatureTests : AccessFixture
{
    private const string Body = "<order/>";
    private const string Signed = """, "authentication": ["signature"] """;

    private static long Now => TimeProvider.System.GetUtcNow().ToUnixTimeSeconds();

    private static IEnumerable<TestCaseData> Wrong()
    {
        yield return Case("no signature", "Missing", now => (null, $"{now}"));
        yield return Case("no time", "Missing", now => (Sign(ShopKey, now, Body), null));
        yield return Case("another key", "WrongSignature", now => (Sign("another key 0123456789", now, Body), $"{now}"));
        yield return Case("another body", "WrongSignature", now => (Sign(ShopKey, now, "<order />"), $"{now}"));
        yield return Case("another time", "WrongSignature", now => (Sign(ShopKey, now - 60, Body), $"{now}"));
        yield return Case("no hex", "Malformed", now => ("sha256=" + new string('x', 64), $"{now}"));
        yield return Case("too short", "Malformed", now => (Sign(ShopKey, now, Body)[..^2], $"{now}"));
        yield return Case("no prefix", "Malformed", now => (Sign(ShopKey, now, Body)["sha256=".Length..], $"{now}"));
        yield return Case("no number", "Malformed", now => (Sign(ShopKey, now, Body), "yesterday"));
        yield return Case("five minutes ago", "Replayed", now => (Sign(ShopKey, now - 302, Body), $"{now - 302}"));
        yield return Case("in five minutes", "Replayed", now => (Sign(ShopKey, now + 310, Body), $"{now + 310}"));
        yield return Case("a time beyond all", "Replayed", now => (Sign(ShopKey, long.MaxValue, Body), $"{long.MaxValue}"));
    }

    [TestCaseSource(nameof(Wrong)), CancelAfter(30_000)]
    public async Task Which_check_failed_only_the_log_tells(
        Func<long, (string?, string?)> headers,
        string reason,
        CancellationToken cancellationToken
    )
    {
        await Bus.StartAsync(Orders(Signed), Parties);

        using var answer = await AskAsync("/orders", With(headers(Now)), cancellationToken, Body);
        var text = await answer.Content.ReadAsStringAsync(cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Unauthorized));
        Assert.That(answer.Headers.WwwAuthenticate.Single().ToString(), Is.EqualTo("Signature"));
        Assert.That(text, Does.Contain("\"ESB-HTTP-SIGNATURE\"").And.Contain("\"The request is not signed as agreed.\""));
        Assert.That(Bus.Log.All.Select(line => line.Text), Has.Some.Contains($"refused a call: {reason} (ESB-HTTP-SIGNATURE)"));
        Assert.That(Bus.Published, Is.Empty);
    }

    [TestCase(ShopKey), TestCase(NextShopKey), CancelAfter(30_000)]
    public async Task Request_that_is_signed_is_taken_in_whole(string key, CancellationToken cancellationToken)
    {
        var signed = Now - 200;
        await Bus.StartAsync(Orders(Signed), Parties);

        using var answer = await AskAsync("/orders", With((Sign(key, signed, Body), $"{signed}")), cancellationToken, Body);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That((Bus.Published.Single().Party, Bus.Published.Single().Body.ReadText()), Is.EqualTo(("shop", Body)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Signed_request_is_relayed_as_it_came(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await Bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out"{{Signed}} },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}" }
            """,
            Parties
        );

        var now = Now;
        using var right = await AskAsync("/in", With((Sign(ShopKey, now, Body), $"{now}")), cancellationToken, Body);
        using var wrong = await AskAsync("/in", With((Sign(CarrierKey, now, Body), $"{now}")), cancellationToken, Body);

        Assert.That((right.StatusCode, wrong.StatusCode), Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.Unauthorized)));
        Assert.That(await right.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo(Body));
        Assert.That(backend.Requests, Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Form_of_other_services_can_be_described(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(
            Orders(
                $$"""{{Signed}}, "signature": { "header": "X-Slack-Signature", "timestampHeader": "X-Slack-Request-Timestamp", "prefix": "v0=", "encoding": "base64", "content": "v0:{timestamp}:{body}" } """
            ),
            Parties
        );
        var now = Now;
        var signature = Convert.ToBase64String(
            HMACSHA256.HashData(Encoding.UTF8.GetBytes(ShopKey), Encoding.UTF8.GetBytes($"v0:{now}:{Body}"))
        );

        using var answer = await AskAsync(
            "/orders",
            headers =>
            {
                headers.Add("X-Slack-Signature", $"v0={signature}");
                headers.Add("X-Slack-Request-Timestamp", $"{now}");
            },
            cancellationToken,
            Body
        );

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    [Test, CancelAfter(30_000)]
    public async Task Body_over_the_limit_is_not_read_for_its_signature(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders($$"""{{Signed}}, "maxBodySize": "1KiB" """), Parties);
        var large = new string('x', 2_000);

        var outcome = await OutcomeAsync(await AskAsync("/orders", With((Sign(ShopKey, Now, large), $"{Now}")), cancellationToken, large));

        Assert.That(outcome, Is.EqualTo((HttpStatusCode.RequestEntityTooLarge, "ESB-BODY-SIZE")));
    }

    private static string Sign(string key, long time, string body) => Sign(key, time.ToString(CultureInfo.InvariantCulture), body);

    private static string Sign(string key, string time, string body) =>
        $"sha256={Convert.ToHexStringLower(HMACSHA256.HashData(Encoding.UTF8.GetBytes(key), Encoding.UTF8.GetBytes($"{time}.{body}")))}";

    private static Action<HttpRequestHeaders> With((string? Signature, string? Time) shown) =>
        headers =>
        {
            if (shown.Signature is not null)
                headers.Add("X-Signature", shown.Signature);
            if (shown.Time is not null)
                headers.Add("X-Timestamp", shown.Time);
        };

    private static TestCaseData Case(string name, string reason, Func<long, (string?, string?)> headers) =>
        new TestCaseData(headers, reason).SetArgDisplayNames(name);
}
