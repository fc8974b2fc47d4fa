using System.Net;
using System.Net.Http.Headers;

namespace Esb.Tests.Endpoints.Http.Access;

/// <summary>What lets a caller in does not travel on.</summary>
public sealed class CredentialsEndHereTests : AccessFixture
{
    [
        TestCase("""["*"]""", false, false),
        TestCase("""["x-*", "x-api-*"]""", false, false),
        TestCase("""["x-*", "X-API-KEY"]""", false, true),
        TestCase("""["authorization"]""", true, false),
        CancelAfter(30_000)
    ]
    public async Task Message_carries_credentials_only_where_they_are_named_in_full(
        string headers,
        bool authorization,
        bool key,
        CancellationToken cancellationToken
    )
    {
        await Bus.StartAsync(Orders($$""", "authentication": ["basic", "api-key"], "headers": {{headers}} """), Parties);

        using var answer = await AskAsync("/orders", Both, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        var message = Bus.Published.Single();
        Assert.That(
            (message.Headers["Authorization"] is not null, message.Headers["X-Api-Key"] is not null),
            Is.EqualTo((authorization, key))
        );
    }

    [
        TestCase("", false),
        TestCase(""", "headers": ["*"] """, false),
        TestCase(""", "headers": ["*", "Authorization", "X-Api-Key"] """, true),
        CancelAfter(30_000)
    ]
    public async Task Target_of_a_relay_sees_credentials_only_where_they_are_named_in_full(
        string headers,
        bool seen,
        CancellationToken cancellationToken
    )
    {
        await using var backend = await Backend.StartAsync();
        await Bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out", "authentication": ["api-key", "basic"]{{headers}} },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}" }
            """,
            Parties
        );

        using var answer = await AskAsync(
            "/in",
            request =>
            {
                Both(request);
                request.Add("X-Trace", "kept");
            },
            cancellationToken
        );

        var request = backend.Requests.Single();
        Assert.That(
            (request.Contains("Authorization:", StringComparison.Ordinal), request.Contains("X-Api-Key:", StringComparison.Ordinal)),
            Is.EqualTo((seen, seen))
        );
        Assert.That(request, Does.Contain("X-Trace: kept"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Relay_that_asks_for_nothing_leaves_credentials_to_its_target(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await Bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out" },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}" }
            """
        );

        using var answer = await AskAsync("/in", Both, cancellationToken);

        Assert.That(backend.Requests.Single(), Does.Contain($"Authorization: {Basic("shop", ShopPassword)}"));
    }

    private static void Both(HttpRequestHeaders headers)
    {
        headers.Authorization = Basic("shop", ShopPassword);
        headers.Add("X-Api-Key", ShopKey);
    }
}
