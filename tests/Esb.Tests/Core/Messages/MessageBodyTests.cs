using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Messages;

[CancelAfter(30_000)]
public sealed class MessageBodyTests
{
    [Test]
    public void A_streaming_body_has_no_bytes_until_it_is_buffered()
    {
        var body = MessageBody.FromStream(new MemoryStream("abc"u8.ToArray()));

        Assert.That((body.IsBuffered, body.Length), Is.EqualTo((false, (long?)null)));
        Assert.That(() => body.Bytes, Throws.InvalidOperationException);
    }

    [Test]
    public async Task Buffering_reads_all_of_the_stream(CancellationToken cancellationToken)
    {
        var bytes = Enumerable.Range(0, 200_000).Select(number => (byte)number).ToArray();
        var body = MessageBody.FromStream(new MemoryStream(bytes));

        var buffered = await body.BufferAsync(bytes.Length, cancellationToken);

        Assert.That(buffered.ToArray(), Is.EqualTo(bytes));
        Assert.That((body.IsBuffered, body.Length), Is.EqualTo((true, (long?)bytes.Length)));
        Assert.That((await body.BufferAsync(1, cancellationToken)).Length, Is.EqualTo(bytes.Length), "buffered once and for all");
    }

    [TestCase(0L)]
    [TestCase(99_999L)]
    [TestCase(100_000L)]
    [TestCase(200_000L)]
    public async Task A_length_that_is_announced_and_not_kept_changes_nothing(long announced, CancellationToken cancellationToken)
    {
        var bytes = Enumerable.Range(0, 100_000).Select(number => (byte)number).ToArray();
        var body = MessageBody.FromStream(new MemoryStream(bytes), announced);

        var buffered = await body.BufferAsync(1 << 20, cancellationToken);

        Assert.That(buffered.ToArray(), Is.EqualTo(bytes));
        Assert.That(body.Length, Is.EqualTo(bytes.Length));
    }

    [Test]
    public void An_announced_length_takes_no_memory_before_bytes_arrive()
    {
        var body = MessageBody.FromStream(new NeverEndingStream(), length: 256 << 20);
        var before = GC.GetAllocatedBytesForCurrentThread();

        var buffering = body.BufferAsync(1 << 30, CancellationToken.None);

        Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.LessThan(1 << 20));
        Assert.That(buffering.IsCompleted, Is.False);
    }

    private sealed class NeverEndingStream : MemoryStream
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            new(new TaskCompletionSource<int>().Task);
    }

    [Test]
    [TestCase(null)]
    [TestCase(4L)]
    public void More_bytes_than_allowed_are_too_large_whether_the_length_is_told_or_not(long? length)
    {
        var body = MessageBody.FromStream(new MemoryStream("abcd"u8.ToArray()), length);

        var fault = Assert.ThrowsAsync<EsbException>(async () => await body.BufferAsync(3, CancellationToken.None));

        Assert.That((fault!.Code, fault.Kind), Is.EqualTo(("ESB-BODY-SIZE", FaultKind.TooLarge)));
    }

    [Test]
    public async Task What_is_left_of_a_stream_is_never_taken_for_the_whole_body(CancellationToken cancellationToken)
    {
        var copied = MessageBody.FromStream(new MemoryStream("abcd"u8.ToArray()));
        var tooLarge = MessageBody.FromStream(new MemoryStream("abcd"u8.ToArray()));
        await copied.CopyToAsync(Stream.Null, cancellationToken);
        Assert.ThrowsAsync<EsbException>(async () => await tooLarge.BufferAsync(3, cancellationToken));

        Assert.That(async () => await copied.CopyToAsync(Stream.Null, cancellationToken), Throws.InvalidOperationException);
        Assert.That(async () => await copied.BufferAsync(10, cancellationToken), Throws.InvalidOperationException);
        Assert.That(async () => await tooLarge.BufferAsync(10, cancellationToken), Throws.InvalidOperationException);
    }

    [Test]
    public async Task A_body_is_copied_while_it_streams_and_as_often_as_wanted_once_buffered(CancellationToken cancellationToken)
    {
        var (streamed, buffered) = (new MemoryStream(), new MemoryStream());

        await MessageBody.FromStream(new MemoryStream("abc"u8.ToArray())).CopyToAsync(streamed, cancellationToken);
        var body = MessageBody.FromText("abc");
        await body.CopyToAsync(buffered, cancellationToken);
        await body.CopyToAsync(buffered, cancellationToken);

        Assert.That(Encoding.UTF8.GetString(streamed.ToArray()), Is.EqualTo("abc"));
        Assert.That(Encoding.UTF8.GetString(buffered.ToArray()), Is.EqualTo("abcabc"));
    }

    [Test]
    public void A_view_is_made_once_and_shared_by_all_copies_of_the_message()
    {
        var message = Some.Message("abc");
        var copy = message with { Subject = "orders.new" };
        var made = 0;

        var view = message.Body.View(Parse);
        var same = copy.Body.View(Parse);

        Assert.That(same, Is.SameAs(view));
        Assert.That(made, Is.EqualTo(1));

        StringBuilder Parse(ReadOnlyMemory<byte> bytes)
        {
            made++;
            return new StringBuilder(Encoding.UTF8.GetString(bytes.Span));
        }
    }

    [Test]
    public void Views_of_several_kinds_stand_beside_one_another_also_when_many_ask_at_once()
    {
        var body = MessageBody.FromText("abc");
        var texts = new string[1_000];
        var builders = new StringBuilder[1_000];

        Parallel.For(
            0,
            1_000,
            i =>
            {
                texts[i] = body.View(bytes => Encoding.UTF8.GetString(bytes.Span));
                builders[i] = body.View(bytes => new StringBuilder(bytes.Length));
            }
        );

        Assert.That(texts, Is.All.SameAs(texts[0]));
        Assert.That(builders, Is.All.SameAs(builders[0]));
    }

    [Test]
    public void A_view_that_fails_is_tried_again_by_the_next_one()
    {
        var body = MessageBody.FromText("abc");

        Assert.That(() => body.View<string>(_ => throw new FormatException()), Throws.TypeOf<FormatException>());
        Assert.That(body.View(_ => "parsed"), Is.EqualTo("parsed"));
    }

    [Test]
    public void Text_is_without_a_byte_order_mark() =>
        Assert.That(MessageBody.FromBytes(new byte[] { 0xEF, 0xBB, 0xBF, (byte)'a' }).ReadText(), Is.EqualTo("a"));
}
