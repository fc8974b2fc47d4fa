using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Lanes;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Delivery;

public sealed class ReleaseTimerTests
{
    [Test, CancelAfter(30_000)]
    public async Task Failure_that_nobody_foresaw_does_not_end_the_releases(CancellationToken cancellationToken)
    {
        var time = new ManualTime();
        var store = Substitute.For<IParkingStore>();
        var queues = Substitute.For<IEndpointQueues>();
        IReadOnlyList<string> due = ["A-1"];
        store
            .TakeDueAsync("orders-db", Arg.Any<CancellationToken>())
            .Returns(_ => throw new InvalidOperationException("A row that nobody can read."), _ => Task.FromResult(due));
        await using var timer = new ReleaseTimer("orders-db", store, queues, time, NullLogger<ReleaseTimer>.Instance);

        await Eventually.HoldsAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(1));
                return queues.ReceivedCalls().Any();
            },
            "the key is released in spite of it",
            cancellationToken
        );

        await queues
            .Received()
            .SendAsync(
                "orders-db",
                Arg.Is<EsbMessage>(message => message.Key == "A-1"),
                DeliveryKind.Release,
                Arg.Any<CancellationToken>()
            );
    }
}
