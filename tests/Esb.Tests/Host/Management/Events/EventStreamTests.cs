using Esb.Host.Management.Events;

namespace Esb.Tests.Host.Management.Events;

public sealed class EventStreamTests
{
    private static readonly HashSet<BusEventKind> All = [.. Enum.GetValues<BusEventKind>()];

    [Test]
    public void Reader_gets_what_happens_after_it_began()
    {
        var stream = new EventStream();
        Publish(stream, 2);

        var reader = stream.Open(All, null)!;
        Publish(stream, 3);

        Assert.That(Read(reader), Is.EqualTo(new long[] { 3, 4, 5 }));
        Assert.That((reader.IsReset, reader.IsResumed), Is.EqualTo((false, false)));
    }

    [Test]
    public void Reader_that_was_away_continues_where_it_was()
    {
        var stream = new EventStream();
        Publish(stream, 5);

        var reader = stream.Open(All, $"{stream.Run}-2")!;

        Assert.That(Read(reader), Is.EqualTo(new long[] { 3, 4, 5 }));
        Assert.That(reader.IsResumed, Is.True);
    }

    [Test]
    public void Reader_that_was_away_too_long_has_to_ask_anew()
    {
        var stream = new EventStream();
        Publish(stream, EventStream.MaxKept + 2);

        var late = stream.Open(All, $"{stream.Run}-1")!;
        var inTime = stream.Open(All, $"{stream.Run}-2")!;

        Assert.That((late.IsReset, inTime.IsReset), Is.EqualTo((true, false)));
        Assert.That(Read(inTime), Has.Count.EqualTo(EventStream.MaxKept), "what was missed is not counted against it");
    }

    [TestCase("another-1"), TestCase("1"), TestCase("-"), TestCase(""), TestCase("RUN-99"), TestCase("RUN--1"), TestCase("RUN-x")]
    public void Unknown_position_is_a_reset(string id)
    {
        var stream = new EventStream();
        Publish(stream, 3);

        var reader = stream.Open(All, id.Replace("RUN", stream.Run))!;

        Assert.That(reader.IsReset, Is.True);
    }

    [Test]
    public async Task Reader_too_far_behind_is_closed_and_the_others_are_not()
    {
        var stream = new EventStream();
        var (slow, quick) = (stream.Open(All, null)!, stream.Open(All, null)!);
        for (var count = 0; count <= EventReader.MaxBehind; count++)
        {
            Publish(stream, 1);
            Read(quick);
        }

        var left = Read(slow);

        Assert.That(left, Has.Count.EqualTo(EventReader.MaxBehind));
        Assert.That((slow.IsTooSlow, await slow.WaitAsync(CancellationToken.None)), Is.EqualTo((true, false)));
        Assert.That(quick.IsTooSlow, Is.False);
    }

    [Test]
    public void Rates_replace_those_before_and_push_nothing_out()
    {
        var stream = new EventStream();
        Publish(stream, 1);
        for (var second = 0; second < EventStream.MaxKept * 2; second++)
            stream.Publish(BusEventKind.Rates, new { second });

        var reader = stream.Open(All, $"{stream.Run}-0")!;

        Assert.That(Read(reader), Is.EqualTo(new long[] { 1, 1 + (EventStream.MaxKept * 2) }));
    }

    [Test]
    public void Kept_bytes_are_bounded_too()
    {
        var stream = new EventStream();
        for (var count = 0; count < 1_000; count++)
            stream.Publish(BusEventKind.Log, new { text = new string('x', 50_000) });

        var reader = stream.Open(All, $"{stream.Run}-990")!;

        Assert.That(stream.Open(All, $"{stream.Run}-1")!.IsReset, Is.True);
        Assert.That(Read(reader), Has.Count.EqualTo(10));
    }

    [Test]
    public void Only_the_kinds_wanted_come()
    {
        var stream = new EventStream();
        var reader = stream.Open(new HashSet<BusEventKind> { BusEventKind.Host }, null)!;

        Publish(stream, 2);
        stream.Publish(BusEventKind.Host, new { });

        Assert.That(Read(reader), Is.EqualTo(new long[] { 3 }));
        Assert.That((stream.IsWanted(BusEventKind.Host), stream.IsWanted(BusEventKind.Rates)), Is.EqualTo((true, false)));
    }

    [Test]
    public void Readers_are_limited_and_a_closed_one_makes_room()
    {
        var stream = new EventStream();
        var readers = Enumerable.Range(0, EventStream.MaxReaders).Select(_ => stream.Open(All, null)!).ToList();

        var tooMany = stream.Open(All, null);
        stream.Close(readers[0]);

        Assert.That(tooMany, Is.Null);
        Assert.That(stream.Open(All, null), Is.Not.Null);
    }

    private static void Publish(EventStream stream, int count)
    {
        for (var one = 0; one < count; one++)
            stream.Publish(BusEventKind.Endpoint, new { one });
    }

    private static List<long> Read(EventReader reader)
    {
        var numbers = new List<long>();
        while (reader.TryRead(out var read))
            numbers.Add(read.Number);
        return numbers;
    }
}
