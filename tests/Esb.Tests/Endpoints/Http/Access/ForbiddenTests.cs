using System.Net;
using Esb.Core.Audit;

namespace Esb.Tests.Endpoints.Http.Access;

[Property("Case", "HTP-15")]
public sealed class ForbiddenTests : AccessFixture
{
    [
        TestCase(""", "parties": ["shop"] """, TestName = "Party that is not among those of the endpoint"),
        TestCase("", TestName = "Party that may not publish the subject"),
        CancelAfter(30_000)
    ]
    public async Task Party_at_the_wrong_endpoint_is_refused_and_audited(string more, CancellationToken cancellationToken)
    {
        await Bus.StartAsync(Orders($$""", "authentication": ["api-key"]{{more}}"""), Parties);

        using var answer = await AskAsync("/orders", WithKey(CarrierKey), cancellationToken);
        var id = answer.Headers.GetValues("Esb-Message-Id").Single();

        Assert.That(await OutcomeAsync(answer), Is.EqualTo((HttpStatusCode.Forbidden, "ESB-HTTP-FORBIDDEN")));
        Assert.That(Bus.Published, Is.Empty);
        Assert.That(
            Bus.Audit.Facts.Select(fact => (fact.Kind, fact.Endpoint, fact.Party, fact.Code, fact.MessageId.ToString())),
            Is.EqualTo(new[] { (AuditKind.Refused, "orders", "carrier", "ESB-HTTP-FORBIDDEN", id) })
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Party_at_the_wrong_relay_reaches_no_target(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        await Bus.StartAsync(
            $$"""
            "in": { "type": "http-inbound", "path": "/in", "relay": "out", "authentication": ["api-key"], "parties": ["shop"] },
            "out": { "type": "http-outbound", "url": "{{backend.Url}}" }
            """,
            Parties
        );

        var outcome = await OutcomeAsync(await AskAsync("/in", WithKey(CarrierKey), cancellationToken));

        Assert.That(outcome, Is.EqualTo((HttpStatusCode.Forbidden, "ESB-HTTP-FORBIDDEN")));
        Assert.That(backend.Requests, Is.Empty);
        Assert.That(Bus.Audit.Facts.Select(fact => (fact.Kind, fact.Party)), Is.EqualTo(new[] { (AuditKind.Refused, "carrier") }));
    }
}
