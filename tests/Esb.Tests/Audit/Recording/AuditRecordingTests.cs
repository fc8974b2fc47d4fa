using System.Security.Cryptography;
using System.Text;
using Esb.Core.Audit;
using Esb.Core.Messages;
using NSubstitute;

namespace Esb.Tests.Audit.Recording;

public sealed class AuditRecordingTests
{
    private const string Body = """{"order":"A-1","card":"4111111111111111","name":"Jo"}""";

    [TestCase("none", false, false, false)]
    [TestCase("headers", true, false, false)]
    [TestCase("fields", true, true, false)]
    [TestCase("whole", true, true, true)]
    public async Task Each_level_records_what_those_before_it_do(string bodies, bool hasHeaders, bool hasFields, bool hasBody)
    {
        var fact = await RecordAsync(
            $$"""{ "audit": { "bodies": "{{bodies}}", "fields": { "order": { "jsonpath": "$.order" } } } }""",
            AuditKind.Received
        );

        Assert.That((fact.Headers is not null, fact.Fields.Count > 0, fact.Body is not null), Is.EqualTo((hasHeaders, hasFields, hasBody)));
    }

    [Test]
    public async Task Whole_body_is_that_of_the_message_not_a_copy_with_its_hash()
    {
        var message = Message();

        var fact = await RecordAsync("""{ "audit": { "bodies": "whole" } }""", AuditKind.Received, message);

        Assert.That(fact.Body!.Value, Is.EqualTo(message.Body.Bytes), "the same memory");
        Assert.That(
            (fact.BodyState, fact.BodyLength, fact.ContentType),
            Is.EqualTo((AuditBodyState.Whole, Body.Length, "application/json"))
        );
        Assert.That(fact.BodyHash!.Value.ToArray(), Is.EqualTo(SHA256.HashData(Encoding.UTF8.GetBytes(Body))));
        Assert.That(fact.Headers, Is.EquivalentTo(new Dictionary<string, string> { ["x-order"] = "A-1" }));
    }

    [Test, Property("Case", "AUD-04")]
    public async Task Body_above_the_limit_is_cut_and_keeps_the_hash_and_length_of_all_of_it()
    {
        var fact = await RecordAsync("""{ "audit": { "bodies": "whole", "maxBody": "10B" } }""", AuditKind.Received);

        Assert.That(Encoding.UTF8.GetString(fact.Body!.Value.Span), Is.EqualTo(Body[..10]));
        Assert.That((fact.BodyState, fact.BodyLength), Is.EqualTo((AuditBodyState.Truncated, Body.Length)));
        Assert.That(fact.BodyHash!.Value.ToArray(), Is.EqualTo(SHA256.HashData(Encoding.UTF8.GetBytes(Body))));
    }

    [Test, Property("Case", "AUD-02")]
    public async Task Body_headers_and_fields_are_masked_before_they_are_cut()
    {
        var fact = await RecordAsync(
            """
            { "audit": { "bodies": "whole", "maxBody": "30B", "fields": { "card": { "jsonpath": "$.card" }, "all": { "message": "body" }, "header": { "header": "x-key" } },
              "masks": [{ "jsonpath": "$.card", "action": "last4" }, { "header": "x-key" }] } }
            """,
            AuditKind.Received,
            Message() with
            {
                Headers = MessageHeaders.Empty.With("x-key", "hunter2"),
            }
        );

        Assert.That(Encoding.UTF8.GetString(fact.Body!.Value.Span), Is.EqualTo("""{"order":"A-1","card":"****111"""));
        Assert.That((fact.BodyState, fact.Headers), Is.EqualTo((AuditBodyState.Masked, default(IReadOnlyDictionary<string, string>))));
        Assert.That(
            fact.Fields,
            Is.EquivalentTo(
                new Dictionary<string, string> { ["card"] = "****1111", ["all"] = """{"order":"A-1","card":"****1111","name":"Jo"}""" }
            )
        );
        Assert.That(fact.BodyLength, Is.GreaterThan(30));
    }

    [Test, Property("Case", "AUD-02")]
    public async Task Body_that_cannot_be_masked_is_withheld_with_its_hash_and_length()
    {
        var message = Message() with { Body = MessageBody.FromText("""{"card":"4111111111111111""") };

        var fact = await RecordAsync(
            """{ "audit": { "bodies": "whole", "fields": { "card": { "jsonpath": "$.card" } }, "masks": [{ "jsonpath": "$.card" }] } }""",
            AuditKind.Received,
            message
        );

        Assert.That(
            (fact.BodyState, fact.Body is null, fact.BodyLength, fact.Fields.Count),
            Is.EqualTo((AuditBodyState.Withheld, true, message.Body.Length, 0))
        );
        Assert.That(fact.BodyHash, Is.Not.Null);
    }

    [TestCase(AuditKind.Received, true)]
    [TestCase(AuditKind.Refused, true)]
    [TestCase(AuditKind.Delivered, true)]
    [TestCase(AuditKind.Published, false)]
    [TestCase(AuditKind.Replied, false)]
    [TestCase(AuditKind.Failed, false)]
    public async Task It_is_recorded_where_it_is_wanted_on_the_way(AuditKind kind, bool isRecorded)
    {
        var fact = await RecordAsync("""{ "audit": { "bodies": "whole", "at": ["received", "delivered"] } }""", kind);

        Assert.That(fact.Body is not null, Is.EqualTo(isRecorded));
    }

    [TestCase("door", true, AuditBodies.Whole), TestCase("plain", false, AuditBodies.Whole), TestCase("terse", true, AuditBodies.None)]
    public void Endpoint_decides_whether_its_steps_are_recorded_and_what_of_transforms(string endpoint, bool wants, AuditBodies bodies)
    {
        using var audit = new ConfiguredAudit(
            """
            { "audit": { "bodies": "whole", "steps": true },
              "processes": { "work": [] },
              "endpoints": {
                "door": { "type": "in", "process": "work" },
                "plain": { "type": "in", "process": "work", "audit": { "steps": false } },
                "terse": { "type": "in", "process": "work", "audit": { "at": ["received"] } } } }
            """
        );

        Assert.That(audit.Errors, Is.Empty);
        Assert.That((audit.Trail.WantsSteps(endpoint), audit.Trail.Wants(AuditKind.StepEnded, endpoint)), Is.EqualTo((wants, bodies)));
    }

    [TestCase("door", "orders.new", AuditBodies.Headers, TestName = "the endpoint before the topic")]
    [TestCase("other", "orders.new", AuditBodies.Whole, TestName = "the topic before the section")]
    [TestCase("other", "orders", AuditBodies.Whole, TestName = "a subject of one part")]
    [TestCase("other", "ordersx.new", AuditBodies.Fields, TestName = "the section")]
    [TestCase("modest", "orders.new", AuditBodies.Whole, TestName = "an endpoint that says something else only")]
    [TestCase(null, null, AuditBodies.Fields, TestName = "the section, where nothing is known")]
    public async Task Endpoint_decides_before_the_topic_before_the_section(string? endpoint, string? subject, AuditBodies expected)
    {
        using var audit = new ConfiguredAudit(
            """
            { "audit": { "bodies": "fields", "fields": { "order": { "jsonpath": "$.order" } } },
              "topics": { "orders": { "audit": "whole" }, "ordersx": {} },
              "endpoints": {
                "door": { "type": "in", "publish": "orders.new", "audit": { "bodies": "headers" } },
                "other": { "type": "in", "publish": "orders.new" },
                "modest": { "type": "in", "publish": "orders.new", "audit": { "mode": "strict" } } } }
            """
        );
        Assert.That(audit.Errors, Is.Empty);

        var fact = await RecordAsync(audit, SomeFact(AuditKind.Received) with { Endpoint = endpoint, Subject = subject }, Message());

        var found =
            fact.Body is not null ? AuditBodies.Whole
            : fact.Fields.Count > 0 ? AuditBodies.Fields
            : AuditBodies.Headers;
        Assert.That(found, Is.EqualTo(expected));
    }

    [Test]
    public async Task Endpoint_of_mode_strict_is_recorded_in_the_store_and_the_others_in_the_spool()
    {
        var spool = Substitute.For<IAuditSpool>();
        using var audit = new ConfiguredAudit(
            """{ "endpoints": { "door": { "type": "in", "publish": "orders.new", "audit": { "mode": "strict" } } }, "topics": { "orders": {} } }""",
            spool
        );

        await audit.Trail.RecordAsync(SomeFact(AuditKind.Received) with { Endpoint = "door" }, default);
        await audit.Trail.RecordAsync(SomeFact(AuditKind.Received) with { Endpoint = "other" }, default);

        Assert.That(audit.Store.Facts.Single().Endpoint, Is.EqualTo("door"));
        await spool.Received(1).AppendAsync(Arg.Is<AuditFact>(fact => fact.Endpoint == "other"), Arg.Any<CancellationToken>());
    }

    [TestCase("strict", 1, 0), TestCase("spooled", 0, 1)]
    public async Task Relay_is_recorded_as_its_mode_says(string mode, int inStore, int inSpool)
    {
        var spool = Substitute.For<IAuditSpool>();
        using var audit = new ConfiguredAudit(
            $$"""{ "endpoints": { "door": { "type": "in", "relay": "out", "audit": { "mode": "{{mode}}" } }, "out": { "type": "out" } } }""",
            spool
        );

        await audit.Trail.RecordAsync(SomeFact(AuditKind.Received) with { Endpoint = "door" }, default);

        Assert.That(
            (audit.Store.Facts.Count(), spool.ReceivedCalls().Count(call => call.GetMethodInfo().Name == nameof(IAuditSpool.AppendAsync))),
            Is.EqualTo((inStore, inSpool))
        );
    }

    [Test]
    public async Task Relay_records_masked_headers_and_the_fields_that_need_no_body()
    {
        using var audit = new ConfiguredAudit(
            """
            { "audit": { "bodies": "fields", "fields": { "order": { "jsonpath": "$.order" }, "zone": { "header": "x-zone" } }, "masks": [{ "header": "x-key" }, { "jsonpath": "$.card" }] },
              "endpoints": { "door": { "type": "in", "relay": "out", "audit": { "fields": { "customer": { "header": "x-customer" } } } }, "out": { "type": "out" } } }
            """
        );
        var request = Message() with
        {
            Body = MessageBody.Empty,
            Headers = MessageHeaders.Empty.With("x-zone", "north").With("x-customer", "C-1").With("x-key", "hunter2"),
        };

        var fact = await RecordAsync(
            audit,
            SomeFact(AuditKind.Received) with
            {
                Endpoint = "door",
                Fields = new Dictionary<string, string> { [RelayFields.RelayedTo] = "out" },
            },
            request
        );

        using (Assert.EnterMultipleScope())
        {
            Assert.That(fact.Headers, Is.EquivalentTo(new Dictionary<string, string> { ["x-zone"] = "north", ["x-customer"] = "C-1" }));
            Assert.That(
                fact.Fields,
                Is.EquivalentTo(
                    new Dictionary<string, string>
                    {
                        [RelayFields.RelayedTo] = "out",
                        ["zone"] = "north",
                        ["customer"] = "C-1",
                    }
                )
            );
            Assert.That((fact.Body, fact.BodyState), Is.EqualTo((default(ReadOnlyMemory<byte>?), default(AuditBodyState?))));
            Assert.That(audit.Warnings.Lines, Is.Empty);
        }
    }

    [Test]
    public async Task Every_fact_says_its_host_and_the_revision_of_its_configuration()
    {
        using var audit = new ConfiguredAudit("{}");

        await audit.Trail.RecordAsync(SomeFact(AuditKind.Failed), default);

        var fact = audit.Store.Facts.Single();
        Assert.That(
            (fact.Host, fact.Revision),
            Is.EqualTo(($"{Environment.MachineName}/{Environment.ProcessId}", audit.Get<Esb.Core.Configuration.RevisionIdentity>().Id))
        );
    }

    [Test, Property("Case", "AUD-02")]
    public async Task Text_of_a_failure_does_not_repeat_what_is_masked_in_its_message()
    {
        using var audit = new ConfiguredAudit("""{ "audit": { "masks": [{ "jsonpath": "$.card", "action": "last4" }] } }""");
        MaskedFlow.Follow(audit.Trail.Mask, Message());

        await audit.Trail.RecordAsync(
            SomeFact(AuditKind.Failed) with
            {
                Reason = "Key (card)=(4111111111111111) exists already.",
            },
            default
        );

        Assert.That(audit.Store.Facts.Single().Reason, Is.EqualTo("Key (card)=(****1111) exists already."));
    }

    [Test, Property("Case", "AUD-01")]
    public async Task Field_that_matches_nothing_or_cannot_be_read_is_absent_and_warned_about_once_a_minute()
    {
        using var audit = new ConfiguredAudit(
            """{ "audit": { "bodies": "fields", "fields": { "missing": { "jsonpath": "$.none" }, "xml": { "xpath": "/order/@id" }, "order": { "jsonpath": "$.order" } } } }"""
        );

        for (var i = 0; i < 3; i++)
            await audit.Trail.RecordAsync(SomeFact(AuditKind.Received), Message(), default);

        Assert.That(
            audit.Store.Facts.Select(fact => fact.Fields),
            Is.All.EquivalentTo(new Dictionary<string, string> { ["order"] = "A-1" })
        );
        Assert.That(audit.Warnings.Lines, Has.Count.EqualTo(2).And.Some.Contains("missing").And.Some.Contains("xml"));
    }

    [Test]
    public async Task Body_that_streams_is_left_to_stream()
    {
        var message = Message() with { Body = MessageBody.FromStream(new MemoryStream()) };

        var fact = await RecordAsync(
            """{ "audit": { "bodies": "whole", "fields": { "order": { "jsonpath": "$.order" } } } }""",
            AuditKind.Refused,
            message
        );

        Assert.That((fact.Body is null, message.Body.IsBuffered), Is.EqualTo((true, false)));
    }

    private static EsbMessage Message() =>
        Some.Message(Body, contentType: "application/json") with
        {
            Headers = MessageHeaders.From([new("x-order", "A-1")]),
        };

    private static AuditFact SomeFact(AuditKind kind) => AuditFacts.Of(Some.Message(), kind, TimeProvider.System);

    private static async Task<AuditFact> RecordAsync(string json, AuditKind kind, EsbMessage? message = null)
    {
        using var audit = new ConfiguredAudit(json);
        Assert.That(audit.Errors, Is.Empty);
        return await RecordAsync(audit, SomeFact(kind), message ?? Message());
    }

    private static async Task<AuditFact> RecordAsync(ConfiguredAudit audit, AuditFact fact, EsbMessage message)
    {
        await audit.Trail.RecordAsync(fact, message, default);
        return audit.Store.Facts.Single();
    }
}
