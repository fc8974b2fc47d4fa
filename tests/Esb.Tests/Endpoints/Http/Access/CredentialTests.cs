using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Esb.Core.Audit;
using Esb.Core.Processes;

namespace Esb.Tests.Endpoints.Http.Access;

/// <summary>Who shows a credential of a party is that party, at every kind of endpoint.</summary>
public sealed class CredentialTests : AccessFixture
{
    private static IEnumerable<TestCaseData> Credentials()
    {
        yield return new TestCaseData("api-key", WithKey(ShopKey)).SetArgDisplayNames("api key");
        yield return new TestCaseData("api-key", WithKey(NextShopKey)).SetArgDisplayNames("the next api key");
        yield return new TestCaseData("basic", WithAuthorization(Basic("shop", ShopPassword))).SetArgDisplayNames("basic");
        yield return new TestCaseData("basic", WithAuthorization(Basic("shop", NextShopKey))).SetArgDisplayNames("the next password");
        yield return new TestCaseData("jwt", WithAuthorization(new AuthenticationHeaderValue("Bearer", Token()))).SetArgDisplayNames(
            "token"
        );
    }

    [TestCaseSource(nameof(Credentials)), CancelAfter(30_000)]
    public async Task Party_of_a_credential_is_the_party_of_the_message(
        string kind,
        Action<HttpRequestHeaders> sign,
        CancellationToken cancellationToken
    )
    {
        await Bus.StartAsync(Orders($$""", "authentication": ["{{kind}}"] """), Parties);

        using var answer = await AskAsync("/orders", sign, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(Bus.Published.Single().Party, Is.EqualTo("shop"));
        Assert.That(Bus.Audit.Facts.Single(fact => fact.Kind == AuditKind.Received).Party, Is.EqualTo("shop"));
    }

    [TestCaseSource(nameof(Credentials)), CancelAfter(30_000)]
    public async Task Any_of_several_credentials_will_do(string kind, Action<HttpRequestHeaders> sign, CancellationToken cancellationToken)
    {
        _ = kind;
        await Bus.StartAsync(Orders(""", "authentication": ["api-key", "basic", "jwt"] """), Parties);

        using var answer = await AskAsync("/orders", sign, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    [Test, CancelAfter(30_000)]
    public async Task Process_knows_the_party(CancellationToken cancellationToken)
    {
        string? party = null;
        Bus.With("work", (context, _) => Remember(context, ref party));
        await Bus.StartAsync(
            """ "in": { "type": "http-inbound", "path": "/in", "process": "work", "authentication": ["api-key"] } """,
            Parties
        );

        using var answer = await AskAsync("/in", WithKey(CarrierKey), cancellationToken);

        Assert.That((answer.StatusCode, party), Is.EqualTo((HttpStatusCode.Accepted, "carrier")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_asks_for_a_credential_too(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await Bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out", "authentication": ["api-key"] },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}" }
            """,
            Parties
        );

        var stranger = await OutcomeAsync(await AskAsync("/in", null, cancellationToken));
        using var answer = await AskAsync("/in", WithKey(ShopKey), cancellationToken);

        Assert.That(stranger, Is.EqualTo((HttpStatusCode.Unauthorized, "ESB-HTTP-UNAUTHENTICATED")));
        Assert.That(await answer.Content.ReadAsStringAsync(cancellationToken), Is.EqualTo("<order/>"));
        Assert.That(backend.Requests, Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Header_of_the_key_has_the_name_that_the_endpoint_gives_it(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders(""", "authentication": ["api-key"], "apiKeyHeader": "Shop-Token" """), Parties);

        var there = await OutcomeAsync(await AskAsync("/orders", headers => headers.Add("shop-token", ShopKey), cancellationToken));
        var elsewhere = await OutcomeAsync(await AskAsync("/orders", WithKey(ShopKey), cancellationToken));

        Assert.That((there.Status, elsewhere.Status), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Unauthorized)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_without_authentication_may_have_a_fixed_party(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders(""", "party": "shop" """), Parties);

        using var answer = await AskAsync("/orders", WithKey("of nobody"), cancellationToken);

        Assert.That((answer.StatusCode, Bus.Published.Single().Party), Is.EqualTo((HttpStatusCode.Accepted, "shop")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_without_authentication_knows_no_party(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders(""), Parties);

        using var answer = await AskAsync("/orders", WithKey(ShopKey), cancellationToken);

        Assert.That((answer.StatusCode, Bus.Published.Single().Party), Is.EqualTo((HttpStatusCode.Accepted, (string?)null)));
    }

    private static string Token() =>
        SomeTokens.Hs256(SomeTokens.Claims(TimeProvider.System.GetUtcNow()), Encoding.UTF8.GetBytes(SharedSecret));

    private static ValueTask Remember(MessageContext context, ref string? party)
    {
        party = context.Message.Party;
        return ValueTask.CompletedTask;
    }
}
