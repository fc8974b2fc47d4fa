using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.IntegrationTests.Topics;
using Esb.IntegrationTests.Transactions;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>A message that is tapped on its way through a process, over topics in memory: however many take it, its body is there
/// once.</summary>
[NonParallelizable]
public sealed class TapCopyTests
{
    private const int BodyBytes = 1_000_000;
    private const int Rounds = 20;
    private const string Sections = """
        "topics": { "orders": {}, "copies": {} },
        "processes": { "tapped": [{ "wireTap": "copies.first" }, { "set": { "headers": { "x-tapped": "yes" } } }, { "wireTap": "copies.second" }, { "publish": "orders.new" }] }
        """;

    private readonly ConcurrentQueue<EsbMessage> _arrived = new();

    [Test, CancelAfter(60_000)]
    public async Task Body_of_a_tapped_message_is_copied_nowhere(CancellationToken cancellationToken)
    {
        await using var bus = await InProcessBus.StartAsync(Sections, new Dictionary<string, string>(), cancellationToken);
        await using var copies = await SubscribeAsync(bus, "copies", cancellationToken);
        await using var audits = await SubscribeAsync(bus, "audits", cancellationToken, "copies");
        await using var orders = await SubscribeAsync(bus, "orders", cancellationToken);
        var body = new byte[BodyBytes];
        await TapAsync(bus, body, cancellationToken); // what is made once

        var before = GC.GetTotalAllocatedBytes(precise: true);
        for (var round = 0; round < Rounds; round++)
            await TapAsync(bus, body, cancellationToken);
        var allocated = GC.GetTotalAllocatedBytes(precise: true) - before;

        TestContext.Out.WriteLine(
            $"{allocated / Rounds} bytes for each message of {BodyBytes} and its four copies, all of the host included"
        );
        Assert.That(_arrived.Select(BytesOf), Is.All.SameAs(body));
        Assert.That(allocated / Rounds, Is.LessThan(BodyBytes / 4), "one copy of the body would be four times as much");
    }

    // Two copies that each reach two subscribers, and the message itself.
    private async Task TapAsync(InProcessBus bus, byte[] body, CancellationToken cancellationToken)
    {
        var arrived = _arrived.Count;
        await bus.RunAsync("tapped", EsbMessage.Create(MessageBody.FromBytes(body), TimeProvider.System), cancellationToken);
        await Eventually.HoldsAsync(() => _arrived.Count == arrived + 5, cancellationToken);
    }

    private Task<ITopicSubscription> SubscribeAsync(
        InProcessBus bus,
        string endpoint,
        CancellationToken cancellationToken,
        string? topic = null
    )
    {
        var subscription = new Subscription(
            endpoint,
            [SubjectPattern.Parse($"{topic ?? endpoint}.#")!],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            []
        );
        return bus.Transport.SubscribeAsync(
            subscription,
            (delivery, _) =>
            {
                _arrived.Enqueue(delivery.Message);
                return ValueTask.FromResult(Settlement.Done);
            },
            cancellationToken
        );
    }

    private static byte[] BytesOf(EsbMessage message) =>
        MemoryMarshal.TryGetArray(message.Body.Bytes, out var segment)
            ? segment.Array!
            : throw new InvalidOperationException("The body is in no array.");
}
