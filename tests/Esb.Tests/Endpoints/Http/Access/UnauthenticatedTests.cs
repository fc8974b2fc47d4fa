using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;

namespace Esb.Tests.Endpoints.Http.Access;

public sealed partial class UnauthenticatedTests : AccessFixture
{
    private static readonly byte[] Secret = Encoding.UTF8.GetBytes(SharedSecret);

    private static IEnumerable<TestCaseData> Wrong()
    {
        yield return Case("nothing", _ => { });
        yield return Case("a key of nobody", WithKey("nobody-key-0123456789"));
        yield return Case("an empty key", headers => headers.TryAddWithoutValidation("X-Api-Key", ""));
        yield return Case("an endless key", WithKey(new string('k', 5_000)));
        yield return Case("two keys", headers => headers.TryAddWithoutValidation("X-Api-Key", new[] { ShopKey, ShopKey }));
        yield return Case("an unknown user", WithAuthorization(Basic("nobody", ShopPassword)));
        yield return Case("a wrong password", WithAuthorization(Basic("shop", "wrong")));
        yield return Case("no password", WithAuthorization(Basic("shop", "")));
        yield return Case("no colon", WithAuthorization(new AuthenticationHeaderValue("Basic", "c2hvcA==")));
        yield return Case("no base64", WithAuthorization(new AuthenticationHeaderValue("Basic", "not*base64")));
        yield return Case("no parameter", WithAuthorization(new AuthenticationHeaderValue("Basic")));
        yield return Case("another scheme", WithAuthorization(new AuthenticationHeaderValue("Negotiate", "abc")));
        yield return Case("a scheme that only begins so", WithAuthorization(new AuthenticationHeaderValue("Basically", "c2hvcDpzaG9w")));
        yield return Case(
            "two credentials",
            headers => headers.TryAddWithoutValidation("Authorization", new[] { Basic("shop", ShopPassword).ToString(), "Basic eA==" })
        );
        yield return Case("no token", WithAuthorization(new AuthenticationHeaderValue("Bearer", "a.b.c")));
        yield return Case("an expired token", Bearer(claims => claims["exp"] = Now.AddMinutes(-1).ToUnixTimeSeconds()));
    }

    private static DateTimeOffset Now => TimeProvider.System.GetUtcNow();

    [TestCaseSource(nameof(Wrong)), Property("Case", "HTP-14"), CancelAfter(30_000)]
    public async Task Every_failed_proof_gets_the_same_answer_that_names_the_schemes_only(
        Action<HttpRequestHeaders> sign,
        CancellationToken cancellationToken
    )
    {
        await Bus.StartAsync(Orders(""", "authentication": ["api-key", "basic", "jwt"] """), Parties);

        using var answer = await AskAsync("/orders", sign, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Unauthorized));
        Assert.That(
            answer.Headers.WwwAuthenticate.Select(challenge => challenge.ToString()),
            Is.EqualTo(new[] { "ApiKey", "Basic realm=\"esb\"", "Bearer" })
        );
        var body = TraceId().Replace(await answer.Content.ReadAsStringAsync(cancellationToken), "");
        Assert.That(
            JsonNode.DeepEquals(
                JsonNode.Parse(body),
                JsonNode.Parse(
                    """{ "title": "Unauthorized", "status": 401, "detail": "The caller has not proved who it is.", "code": "ESB-HTTP-UNAUTHENTICATED" }"""
                )
            ),
            body
        );
        Assert.That(Bus.Published, Is.Empty);
        Assert.That(Bus.Audit.Facts, Is.Empty, "strangers could fill the audit");
    }

    [Test, Property("Case", "HTP-14"), CancelAfter(60_000)]
    public async Task Unknown_user_and_wrong_password_take_the_same_time(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders(""", "authentication": ["basic"] """), Parties);
        var check = Checks.Of(Bus, Esb.Endpoints.Http.Access.CredentialKind.Basic);
        var (unknown, wrong) = (Checks.Request(Basic("nobody", "some password")), Checks.Request(Basic("shop", "some password")));

        // The fastest of many rounds, turn by turn: what else the machine does makes rounds slower, never faster. On a busy machine they go
        // on until none of 60 rounds was faster.
        var fastest = new[] { double.MaxValue, double.MaxValue };
        for (var (round, last) = (0, 0); round < 3_000 && round - last < 60; round++)
        {
            foreach (var (index, request) in new[] { unknown, wrong }.Index())
            {
                var time = await Checks.TimeAsync(check, request);
                if (time < 0.98 * fastest[index])
                    last = round;
                fastest[index] = Math.Min(fastest[index], time);
            }

            cancellationToken.ThrowIfCancellationRequested();
        }

        Assert.That(fastest[0] / fastest[1], Is.InRange(0.8, 1.25), $"{fastest[0]} and {fastest[1]} ms");
    }

    [Test, CancelAfter(30_000)]
    public async Task No_secret_is_ever_logged(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders(""", "authentication": ["api-key", "basic", "jwt"] """), Parties);

        foreach (var one in Wrong())
            (await AskAsync("/orders", (Action<HttpRequestHeaders>)one.Arguments[0]!, cancellationToken)).Dispose();
        using var right = await AskAsync("/orders", WithKey(ShopKey), cancellationToken);

        var log = string.Join("\n", Bus.Log.All.Select(line => line.Text));
        foreach (var secret in Bus.Variables.Values.Append("nobody-key").Append("bm9ib2R5").Append("eyJ"))
            Assert.That(log, Does.Not.Contain(secret));
        Assert.That(log, Does.Contain("refused a call"));
    }

    private static Action<HttpRequestHeaders> Bearer(Action<JsonObject> change)
    {
        var claims = SomeTokens.Claims(Now);
        change(claims);
        return WithAuthorization(new AuthenticationHeaderValue("Bearer", SomeTokens.Hs256(claims, Secret)));
    }

    private static TestCaseData Case(string name, Action<HttpRequestHeaders> sign) => new TestCaseData(sign).SetArgDisplayNames(name);

    [GeneratedRegex(""",\s*"traceId":\s*"[^"]*"\s*""")]
    private static partial Regex TraceId();
}
