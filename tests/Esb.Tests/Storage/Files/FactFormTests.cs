using System.Text.Json;
using Esb.Core.Audit;
using Esb.Storage.Files;

namespace Esb.Tests.Storage.Files;

/// <summary>The binary form of facts: what is written is read, beside records of earlier versions and of later ones.</summary>
public sealed class FactFormTests
{
    [Test]
    public void Facts_are_read_as_they_were_written()
    {
        AuditFact[] facts =
        [
            Plain(),
            Full(),
            Full() with
            {
                Headers = null,
                Body = null,
                BodyState = null,
            },
            Plain() with
            {
                Time = Full().Time.ToOffset(TimeSpan.FromHours(-9.5)),
            },
            Full(),
        ];

        Assert.That(StoredFact.Read(Write(facts)).Select(Text), Is.EqualTo(facts.Select(Text)));
        Assert.That(
            Enumerable.Range(0, facts.Length).Select(part => Text(StoredFact.Read(Write(facts), part))),
            Is.EqualTo(facts.Select(Text))
        );
        Assert.That(StoredFact.Count(Write(facts)), Is.EqualTo(5));
    }

    [TestCase(0), TestCase(10), TestCase(63), TestCase(64), TestCase(5000)]
    public void Body_is_read_as_it_was_written(int length)
    {
        var body = Enumerable.Range(0, length).Select(i => (byte)(i % 7)).ToArray();

        var read = StoredFact.Read(Write(Plain() with { Body = body })).Single();

        Assert.That(read.Body!.Value.ToArray(), Is.EqualTo(body));
    }

    [Test]
    public void What_a_fact_does_not_have_is_null_and_not_empty()
    {
        var read = StoredFact.Read(Write(Plain())).Single();

        Assert.That(
            (read.Body, read.BodyHash, read.Headers, read.Endpoint, read.Fields.Count),
            Is.EqualTo(((ReadOnlyMemory<byte>?)null, (ReadOnlyMemory<byte>?)null, (object?)null, (string?)null, 0))
        );
    }

    [Test]
    public void Second_fact_of_a_message_takes_a_third_of_the_first()
    {
        var received = Plain() with
        {
            Endpoint = "orders-in",
            Process = "receive-order",
            Party = "shop",
            Host = "machine/1234",
            Revision = new string('a', 64),
            TraceId = new string('b', 32),
        };
        var replied = received with { Id = Guid.CreateVersion7(), Kind = AuditKind.Replied, Duration = TimeSpan.FromMilliseconds(3) };

        var (one, both) = (Write(received).Length, Write(received, replied).Length);

        Assert.That(one, Is.LessThan(250));
        Assert.That(both - one, Is.LessThan(one / 3));
    }

    [Test]
    public void Numbers_of_kinds_are_never_changed()
    {
        var numbers = Enum.GetValues<AuditKind>().Select(kind => $"{(int)kind} {kind}");

        Assert.That(
            numbers.Take(19),
            Is.EqualTo(
                new[]
                {
                    "0 Received",
                    "1 Refused",
                    "2 Filtered",
                    "3 Published",
                    "4 Delivered",
                    "5 Failed",
                    "6 DeadLettered",
                    "7 Parked",
                    "8 Expired",
                    "9 Discarded",
                    "10 Replied",
                    "11 ReplyAbandoned",
                    "12 Recorded",
                    "13 Replayed",
                    "14 Duplicate",
                    "15 Aborted",
                    "16 Erased",
                    "17 Completed",
                    "18 StepEnded",
                }
            )
        );
    }

    [Test]
    public void Kind_of_a_later_version_is_refused_and_its_facts_are_counted()
    {
        var later = Write(Plain());
        later[2] = 200;

        Assert.That(() => StoredFact.Read(later), Throws.TypeOf<InvalidDataException>());
        Assert.That(StoredFact.Count(later), Is.EqualTo(1));
    }

    [Test]
    public void Record_cut_at_any_byte_or_with_a_flipped_bit_is_refused_or_read_and_nothing_worse()
    {
        var whole = Write(Full(), Plain());

        for (var length = 1; length < whole.Length; length++)
            Assert.That(() => StoredFact.Read(whole.AsMemory(0, length)), Throws.TypeOf<InvalidDataException>(), $"{length} bytes");
        for (var bit = 8; bit < 8 * whole.Length; bit++)
        {
            var damaged = (byte[])whole.Clone();
            damaged[bit / 8] ^= (byte)(1 << (bit % 8));
            try
            {
                StoredFact.Read(damaged);
            }
            catch (Exception ex) when (ex is InvalidDataException or ArgumentOutOfRangeException)
            {
                // Refused.
            }
        }
    }

    [Test]
    public void Record_of_json_is_read_beside_it()
    {
        var fact = Full();

        Assert.That(Text(StoredFact.Read(StoredFact.Write(fact)).Single()), Is.EqualTo(Text(fact)));
        Assert.That(StoredFact.Count(StoredFact.Write([fact, Plain()])), Is.EqualTo(2));
    }

    private static byte[] Write(params AuditFact[] facts)
    {
        var buffer = FactBuffer.Take();
        FactForm.Write(facts, buffer);
        var payload = buffer.Bytes.ToArray();
        buffer.Return();
        return payload;
    }

    private static string Text(AuditFact fact) =>
        JsonSerializer.Serialize(fact with { Body = null }) + Convert.ToHexString((fact.Body ?? default).Span) + (fact.Body is null);

    private static AuditFact Plain() => SomeFacts.Fact(AuditKind.Received);

    private static AuditFact Full() =>
        SomeFacts.Fact(AuditKind.Replied, fields: [("order", "A-1"), ("größe", "10 €")]) with
        {
            ConversationId = Guid.CreateVersion7(),
            CausedBy = Guid.NewGuid(),
            Endpoint = "in",
            Process = "work",
            Step = "steps[1]",
            Name = "checked",
            Subject = "orders.new",
            Attempt = 3,
            Duration = TimeSpan.FromMicroseconds(1234),
            Code = "ESB-SOME",
            Reason = "Because.",
            TraceId = "0af7651916cd43dd8448eb211c80319c",
            Party = "shop",
            Host = "machine/1",
            Revision = "abc",
            Headers = new Dictionary<string, string> { ["x-order"] = "A-1" },
            ContentType = "text/xml",
            Body = "<order/>"u8.ToArray(),
            BodyState = AuditBodyState.Masked,
            BodyLength = 8,
            BodyHash = new byte[32],
        };
}
