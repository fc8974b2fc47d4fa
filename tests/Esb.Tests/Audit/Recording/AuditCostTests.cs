using System.Text;
using Esb.Audit.Recording;
using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Tests.Audit.Recording;

/// <summary>What recording allocates, beside the fact itself.</summary>
public sealed class AuditCostTests
{
    private const int Rounds = 1000;

    private static readonly byte[] Body = Encoding.UTF8.GetBytes(
        $$"""{"order":"A-1","card":"4111111111111111","text":"{{new string('x', 100_000)}}"}"""
    );

    [TestCase("""{}""", 0, TestName = "Nothing of the message: nothing")]
    [TestCase(
        """{ "topics": { "orders": { "audit": "whole" } }, "endpoints": { "other": { "type": "in", "publish": "orders.x", "audit": "whole" } } }""",
        0,
        TestName = "Nothing of the message, something of others: nothing"
    )]
    [TestCase("""{ "audit": { "bodies": "headers" } }""", 1200, TestName = "Headers: a copy of them")]
    [TestCase("""{ "audit": { "bodies": "whole" } }""", 2500, TestName = "A body of 100 KB: its hash and no copy")]
    public void Recording_allocates_no_more_than(string json, long limit)
    {
        using var audit = new ConfiguredAudit(json);
        Assert.That(audit.Errors, Is.Empty);
        var fact = AuditFacts.Of(Some.Message(), AuditKind.Received, TimeProvider.System) with { Endpoint = "door", Subject = "bills.new" };
        var message = Some.Message(contentType: "application/json") with
        {
            Body = MessageBody.FromBytes(Body),
            Headers = MessageHeaders.From([new("x-order", "A-1")]),
        };

        var allocated = Measure(audit.Recorder, fact, message);

        TestContext.Out.WriteLine(
            $"{allocated} bytes; what only the host knows, in every fact: {MeasureComplete(audit.Recorder, fact)} bytes"
        );
        Assert.That(allocated, Is.LessThanOrEqualTo(limit));
    }

    private static long Measure(AuditRecorder recorder, AuditFact fact, EsbMessage message) =>
        Measure(() => recorder.Describe(fact, message with { Body = MessageBody.FromBytes(message.Body.Bytes) }))
        - Measure(() => message with { Body = MessageBody.FromBytes(message.Body.Bytes) });

    private static long MeasureComplete(AuditRecorder recorder, AuditFact fact) => Measure(() => recorder.Complete(fact));

    private static long Measure(Func<object> act)
    {
        object last = act();
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < Rounds; i++)
            last = act();
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        GC.KeepAlive(last);
        return allocated / Rounds;
    }
}
