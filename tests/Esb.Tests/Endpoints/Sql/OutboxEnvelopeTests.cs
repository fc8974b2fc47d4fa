using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Endpoints.Sql.Outbox;

namespace Esb.Tests.Endpoints.Sql;

public sealed class OutboxEnvelopeTests
{
    [Test]
    public void Message_comes_out_of_the_outbox_as_it_went_in()
    {
        var message = Some.Message("body", "orders.placed", "k\0ey \"ü\"", "text/plain") with
        {
            Headers = MessageHeaders.From([new("x-a", "1"), new("X-B", "Käse\0")]),
            CorrelationId = "c",
            Party = "shop",
        };
        var trace = new ActivityContext(
            ActivityTraceId.CreateRandom(),
            ActivitySpanId.CreateRandom(),
            ActivityTraceFlags.Recorded,
            "vendor=1"
        );
        var outgoing = new OutgoingMessage(message, "door", "main", trace);

        var json = OutboxEnvelope.Write(outgoing);
        var read = OutboxEnvelope.Read(json, message.Id, message.Subject, message.Body.Bytes.ToArray());

        Assert.Multiple(() =>
        {
            Assert.That(json, Does.Not.Contain('\0'), "text in a database cannot contain it");
            Assert.That(read.Message with { Body = message.Body, Headers = message.Headers }, Is.EqualTo(message));
            Assert.That(read.Message.Body.ReadText(), Is.EqualTo("body"));
            Assert.That(read.Message.Headers, Is.EqualTo(message.Headers));
            Assert.That((read.Endpoint, read.Process), Is.EqualTo(("door", "main")));
            Assert.That(
                (read.Parent.TraceId, read.Parent.SpanId, read.Parent.TraceFlags, read.Parent.TraceState),
                Is.EqualTo((trace.TraceId, trace.SpanId, trace.TraceFlags, trace.TraceState))
            );
        });
    }

    [Test]
    public void Messages_of_a_key_have_one_lane_and_those_without_are_spread()
    {
        var hash = OutboxLanes.HashOf(Some.Message(key: "a"));
        var spread = Enumerable.Range(0, 200).Select(_ => OutboxLanes.LaneOf(Some.Message(), keyHash: null)).Distinct().ToList();

        Assert.That(hash, Is.EqualTo(-3848465438864589366L), "other versions must find the same lane");
        Assert.That(OutboxLanes.LaneOf(Some.Message(), hash), Is.EqualTo(10));
        Assert.That(OutboxLanes.HashOf(Some.Message()), Is.Null);
        Assert.That(spread, Has.Count.EqualTo(OutboxLanes.Count).And.All.InRange(0, 15));
    }
}
