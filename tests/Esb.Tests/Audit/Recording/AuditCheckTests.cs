namespace Esb.Tests.Audit.Recording;

public sealed class AuditCheckTests
{
    [Property("Case", "AUD-03")]
    [TestCase("""{ "xpath": "//card[" }""", "audit.masks[0].xpath")]
    [TestCase("""{ "xpath": "//q:card" }""", "audit.masks[0].xpath")]
    [TestCase("""{ "xpath": "count(//card)" }""", "audit.masks[0].xpath")]
    [TestCase("""{ "jsonpath": "card" }""", "audit.masks[0].jsonpath")]
    [TestCase("""{ "jsonpath": "$.card", "action": "last5" }""", "audit.masks[0].action")]
    [TestCase("""{ "jsonpath": "$.card", "action": "hash" }""", "audit.masks[0].action")]
    [TestCase("""{ "header": " " }""", "audit.masks[0].header")]
    [TestCase("""{ "header": "x-key", "xpath": "//key" }""", "audit.masks[0]")]
    [TestCase("""{ "action": "drop" }""", "audit.masks[0]")]
    public void Wrong_mask_is_refused_with_its_place(string mask, string path)
    {
        using var audit = new ConfiguredAudit($$"""{ "audit": { "masks": [{{mask}}] } }""");

        Assert.That(audit.Errors.Select(error => (error.Code, error.Path)), Is.EqualTo([("ESB-AUD-MASK", path)]));
    }

    [TestCase("""{ "audit": { "fields": { "a": { "xpath": "///" } } } }""", "ESB-XPT-SYNTAX", "audit.fields.a.xpath")]
    [TestCase(
        """{ "endpoints": { "e": { "type": "in", "publish": "t.x", "audit": { "fields": { "a": { "jsonpath": "x" } } } } }, "topics": { "t": {} } }""",
        "ESB-JPT-SYNTAX",
        "endpoints.e.audit.fields.a.jsonpath"
    )]
    [TestCase(
        """{ "topics": { "t": { "audit": { "fields": { "a": { "jsonpath": "x" } } } } } }""",
        "ESB-JPT-SYNTAX",
        "topics.t.audit.fields.a.jsonpath"
    )]
    [TestCase(
        """{ "endpoints": { "e": { "type": "in", "relay": "o", "audit": "whole" }, "o": { "type": "out" } } }""",
        "ESB-AUD-RELAY",
        "endpoints.e.audit"
    )]
    [TestCase(
        """{ "endpoints": { "e": { "type": "in", "relay": "o", "audit": { "bodies": "whole" } }, "o": { "type": "out" } } }""",
        "ESB-AUD-RELAY",
        "endpoints.e.audit.bodies"
    )]
    [TestCase(
        """{ "audit": { "bodies": "whole" }, "endpoints": { "e": { "type": "in", "relay": "o", "audit": {} }, "o": { "type": "out" } } }""",
        "ESB-AUD-RELAY",
        "endpoints.e.audit.bodies"
    )]
    [TestCase(
        """{ "endpoints": { "e": { "type": "in", "relay": "o", "audit": { "fields": { "a": { "xpath": "/order" }, "b": { "header": "x-b" } } } }, "o": { "type": "out" } } }""",
        "ESB-AUD-RELAY",
        "endpoints.e.audit.fields.a"
    )]
    [TestCase(
        """{ "endpoints": { "e": { "type": "in", "relay": "o", "audit": { "steps": true } }, "o": { "type": "out" } } }""",
        "ESB-AUD-STEPS",
        "endpoints.e.audit.steps"
    )]
    [TestCase("""{ "topics": { "t": { "audit": { "steps": true } } } }""", "ESB-AUD-STEPS", "topics.t.audit.steps")]
    [TestCase("""{ "endpoints": { "o": { "type": "out", "audit": { "steps": false } } } }""", "ESB-AUD-STEPS", "endpoints.o.audit.steps")]
    [TestCase(
        """{ "endpoints": { "e": { "type": "in", "publish": "t.x", "audit": { "steps": true } } }, "topics": { "t": {} } }""",
        "ESB-AUD-STEPS",
        "endpoints.e.audit.steps"
    )]
    [TestCase("""{ "audit": { "bodies": "all" } }""", "ESB-CFG-VALUE", "audit.bodies")]
    [TestCase("""{ "audit": { "at": ["sent"] } }""", "ESB-CFG-VALUE", "audit.at[0]")]
    [TestCase("""{ "audit": { "maxBody": "0B" } }""", "ESB-CFG-RANGE", "audit.maxBody")]
    public void What_cannot_be_recorded_is_refused_with_its_place(string json, string code, string path)
    {
        using var audit = new ConfiguredAudit(json);

        Assert.That(audit.Errors.Select(error => (error.Code, error.Path)), Is.EqualTo([(code, path)]));
    }

    [
        TestCase("{}"),
        TestCase("\"none\""),
        TestCase("\"headers\""),
        TestCase("""{ "bodies": "fields", "fields": { "customer": { "header": "x-customer" } } }"""),
        TestCase("""{ "mode": "strict", "at": ["received"] }""")
    ]
    public void Relay_may_record_what_needs_no_body(string asked)
    {
        using var audit = new ConfiguredAudit(
            $$"""
            { "audit": { "bodies": "headers", "fields": { "order": { "xpath": "/order/@id" } } },
              "endpoints": { "e": { "type": "in", "relay": "o", "audit": {{asked}} }, "o": { "type": "out" } } }
            """
        );

        Assert.That(audit.Errors, Is.Empty);
    }

    [Test]
    public void Relay_that_nobody_audits_does_not_care_what_all_others_record()
    {
        using var audit = new ConfiguredAudit(
            """{ "audit": { "bodies": "whole" }, "endpoints": { "e": { "type": "in", "relay": "o" }, "o": { "type": "out" } } }"""
        );

        Assert.That(audit.Errors, Is.Empty);
    }

    [Test]
    public void Short_key_is_refused_and_not_shown()
    {
        using var audit = new ConfiguredAudit(
            """{ "audit": { "hashKey": "${env:HASH_KEY}", "masks": [{ "jsonpath": "$.card", "action": "hash" }] } }""",
            variables: new Dictionary<string, string> { ["HASH_KEY"] = "short-key" }
        );

        Assert.That(audit.Errors.Select(error => (error.Code, error.Path)), Is.EqualTo([("ESB-AUD-MASK", "audit.hashKey")]));
        Assert.That(audit.Errors[0].Describe(), Does.Not.Contain("short-key"));
    }
}
