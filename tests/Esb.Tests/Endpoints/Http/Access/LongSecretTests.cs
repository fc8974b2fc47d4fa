using System.Collections.Frozen;
using System.Net;
using Esb.Core.Parties;
using Esb.Endpoints.Http.Access;
using Microsoft.AspNetCore.Http;

namespace Esb.Tests.Endpoints.Http.Access;

/// <summary>Secrets up to the longest that is looked at, and longer ones.</summary>
internal sealed class LongSecretTests : AccessFixture
{
    private static readonly string Longest = new('k', SecretDigests.MaxBytes);

    [TestCase(0, Denial.None), TestCase(1, Denial.Unknown), TestCase(4000, Denial.Unknown)]
    public async Task Key_is_known_up_to_the_longest_that_is_looked_at(int more, Denial expected)
    {
        var digests = new SecretDigests();
        var (shop, thief) = (new Party(new PartyConfig()), new Party(new PartyConfig()));
        var keys = new Dictionary<SecretDigest, Party> { [digests.Of(Longest)] = shop, [digests.Of(Longest + "too much")] = thief };
        var check = new ApiKeyCheck("X-Api-Key", keys.ToFrozenDictionary(), digests);

        var verdict = await check.IdentifyAsync(
            new DefaultHttpContext { Request = { Headers = { ["X-Api-Key"] = Longest + new string('k', more) } } }
        );

        Assert.That(verdict, Is.EqualTo(expected == Denial.None ? Verdict.Of(shop) : Verdict.Refused(expected)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Longest_user_and_password_are_known_together(CancellationToken cancellationToken)
    {
        Bus.Variables["LONGEST"] = Longest;
        await Bus.StartAsync(
            Orders(""", "authentication": ["basic"] """),
            """, "parties": { "shop": { "users": [{ "user": "${env:LONGEST}", "password": "${env:LONGEST}" }], "publish": ["orders.#"] } }"""
        );

        using var right = await AskAsync("/orders", WithAuthorization(Basic(Longest, Longest)), cancellationToken);
        using var wrong = await AskAsync("/orders", WithAuthorization(Basic(Longest, Longest[1..])), cancellationToken);

        Assert.That((right.StatusCode, wrong.StatusCode), Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.Unauthorized)));
    }
}
