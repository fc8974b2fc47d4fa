using System.Runtime.InteropServices;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Topics;

/// <summary>Copies of a message: ids of their own, one body.</summary>
public sealed class CopyTests : TopicsFixture
{
    private const string Plain = """{ "topics": { "orders": {} } }""";

    private static readonly Subject Copied = new("orders.copied");

    [Test, CancelAfter(30_000)]
    public async Task Each_copy_has_an_id_of_its_own_that_a_repetition_finds_again_and_the_message_keeps_its_id(
        CancellationToken cancellationToken
    )
    {
        var message = Some.Message();
        var publisher = Compose(Plain).GetRequiredService<ITopicPublisher>();
        var copies = new List<Guid>();

        for (var repetition = 0; repetition < 2; repetition++)
        {
            var context = Some.Context(message);
            copies.Add((await publisher.CopyAsync(context, Copied, "tap", cancellationToken)).Message.Id);
            copies.Add((await publisher.CopyAsync(context, Copied, "tap", cancellationToken)).Message.Id);
            await publisher.PublishAsync(context, new Subject("orders.new"), "publish", cancellationToken);
        }

        Assert.That(copies.Take(2), Is.EqualTo(copies.Skip(2)).And.Unique.And.None.EqualTo(message.Id));
        Assert.That(Transport.Published.Select(published => published.Id), Is.All.EqualTo(message.Id));
    }

    [Test, CancelAfter(30_000), NonParallelizable]
    public async Task Copies_and_changed_headers_copy_no_byte_of_the_body(CancellationToken cancellationToken)
    {
        const int Copies = 100;
        var body = new byte[1_000_000];
        var publisher = Compose(Plain).GetRequiredService<ITopicPublisher>();
        var context = Some.Context(EsbMessage.Create(MessageBody.FromBytes(body), TimeProvider.System));
        await CopyAsync(); // what is made once

        var before = GC.GetTotalAllocatedBytes(precise: true);
        for (var i = 0; i < Copies; i++)
            await CopyAsync();
        var allocated = GC.GetTotalAllocatedBytes(precise: true) - before;

        Assert.That(allocated / Copies, Is.LessThan(body.Length / 20), "bytes for a copy, a publish and a changed header");
        Assert.That(Transport.Published.Select(published => BytesOf(published)), Is.All.SameAs(body));

        async Task CopyAsync()
        {
            var copy = await publisher.CopyAsync(context, Copied, "tap", cancellationToken);
            context.Message = context.Message with { Headers = context.Message.Headers.With("x-copied", "yes") };
            await publisher.PublishAsync(context, new Subject("orders.new"), "publish", cancellationToken);
            Assert.That(BytesOf(copy.Message), Is.SameAs(body));
        }
    }

    private static byte[] BytesOf(EsbMessage message) =>
        MemoryMarshal.TryGetArray(message.Body.Bytes, out var segment)
            ? segment.Array!
            : throw new InvalidOperationException("The body is in no array.");
}
