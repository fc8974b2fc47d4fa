using System.Net;
using Esb.Endpoints.Http.Access;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http.Access;

[Property("Case", "HTP-25")]
public sealed class RateLimitTests : AccessFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Each_party_has_its_own_allowance_at_each_endpoint(CancellationToken cancellationToken)
    {
        const string settings = """, "authentication": ["api-key"], "process": "work", "rateLimit": { "calls": 2, "per": "1h" } """;
        Bus.With("work", (_, _) => ValueTask.CompletedTask);
        await Bus.StartAsync(
            $$""" "a": { "type": "http-inbound", "path": "/a"{{settings}} }, "b": { "type": "http-inbound", "path": "/b"{{settings}} } """,
            Parties
        );

        var shop = new List<HttpStatusCode>();
        for (var call = 0; call < 4; call++)
            shop.Add((await OutcomeAsync(await AskAsync("/a", WithKey(ShopKey), cancellationToken))).Status);
        var rotated = await OutcomeAsync(await AskAsync("/a", WithKey(NextShopKey), cancellationToken));
        var carrier = await OutcomeAsync(await AskAsync("/a", WithKey(CarrierKey), cancellationToken));
        var elsewhere = await OutcomeAsync(await AskAsync("/b", WithKey(ShopKey), cancellationToken));

        Assert.That(
            shop,
            Is.EqualTo(
                new[] { HttpStatusCode.Accepted, HttpStatusCode.Accepted, HttpStatusCode.TooManyRequests, HttpStatusCode.TooManyRequests }
            )
        );
        Assert.That(rotated, Is.EqualTo((HttpStatusCode.TooManyRequests, "ESB-HTTP-RATELIMIT")), "another key of the same party");
        Assert.That((carrier.Status, elsewhere.Status), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Accepted)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Address_that_guesses_waits_and_callers_without_a_credential_do_not_count(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders(""", "authentication": ["api-key"] """), Parties);
        for (var call = 0; call < 40; call++)
            (await AskAsync("/orders", null, cancellationToken)).Dispose();
        var before = await OutcomeAsync(await AskAsync("/orders", WithKey(ShopKey), cancellationToken));
        var guesses = new List<(HttpStatusCode Status, string? Code)>();
        for (var guess = 0; guess < 60; guess++)
            guesses.Add(await OutcomeAsync(await AskAsync("/orders", WithKey($"guess-number-{guess:D8}"), cancellationToken)));

        Assert.That(before.Status, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(guesses[..20].Select(guess => guess.Status), Is.All.EqualTo(HttpStatusCode.Unauthorized));
        Assert.That(guesses[20..], Does.Contain((HttpStatusCode.TooManyRequests, "ESB-HTTP-GUESSES")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Caller_is_told_when_to_come_back(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders(""", "authentication": ["api-key"], "rateLimit": { "calls": 2, "per": "1h" } """), Parties);
        for (var call = 0; call < 2; call++)
            (await AskAsync("/orders", WithKey(ShopKey), cancellationToken)).Dispose();

        using var answer = await AskAsync("/orders", WithKey(ShopKey), cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.TooManyRequests));
        Assert.That(answer.Headers.RetryAfter!.Delta, Is.EqualTo(TimeSpan.FromMinutes(30)).Within(TimeSpan.FromSeconds(10)));
        Assert.That(Bus.Published, Has.Count.EqualTo(2));
    }

    [Test, CancelAfter(30_000)]
    public async Task Callers_without_a_party_share_one_allowance(CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders(""", "rateLimit": { "calls": 1, "per": "1h" } """), Parties);

        var first = await OutcomeAsync(await AskAsync("/orders", null, cancellationToken));
        var second = await OutcomeAsync(await AskAsync("/orders", WithKey(ShopKey), cancellationToken));

        Assert.That((first.Status, second.Code), Is.EqualTo((HttpStatusCode.Accepted, "ESB-HTTP-RATELIMIT")));
    }

    [Test]
    public void Allowance_comes_back_evenly()
    {
        var time = new ManualTime();
        var limit = new RateLimit(
            new RateLimitConfig
            {
                Calls = 10,
                Per = TimeSpan.FromSeconds(1),
                Burst = 3,
            },
            time
        );

        var burst = Enumerable.Range(0, 4).Select(_ => limit.Take()).ToList();
        time.Skip(TimeSpan.FromMilliseconds(250));
        var later = Enumerable.Range(0, 3).Select(_ => limit.Take()).ToList();

        Assert.That(burst, Is.EqualTo(new[] { TimeSpan.Zero, TimeSpan.Zero, TimeSpan.Zero, TimeSpan.FromMilliseconds(100) }));
        Assert.That(later, Is.EqualTo(new[] { TimeSpan.Zero, TimeSpan.Zero, TimeSpan.FromMilliseconds(50) }));
    }

    [Test, CancelAfter(30_000)]
    public void No_more_are_let_in_however_many_come_at_once()
    {
        var limit = new RateLimit(new RateLimitConfig { Calls = 100, Per = TimeSpan.FromHours(1) }, new ManualTime());
        var admitted = 0;

        Parallel.For(
            0,
            10_000,
            _ =>
            {
                if (limit.Take() == TimeSpan.Zero)
                    Interlocked.Increment(ref admitted);
            }
        );

        Assert.That(admitted, Is.EqualTo(100));
    }
}
