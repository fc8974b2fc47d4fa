using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

/// <summary>An endpoint that keeps the order of each key goes on with other settings: no lane is taken over again.</summary>
public sealed class KeyedExchangeTests : KeyedDeliveryFixture
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Test, CancelAfter(30_000)]
    public async Task Attempt_under_way_keeps_its_lane_and_the_order_of_its_key_while_others_go_on(CancellationToken cancellationToken)
    {
        var fail = new TaskCompletionSource();
        Outside.Takes(_ => fail.Task);
        await StartAsync(ByKey);
        var first = DeliverAsync("a", 1, cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "to begin", cancellationToken);

        await ChangeAsync(
            ByKey with
            {
                Retry = new RetryConfig { Immediate = 5, Delays = [Second] },
            }
        );
        var other = await DeliverAsync("b", 2, cancellationToken);
        var isUnderWay = !first.IsCompleted;
        fail.SetException(new EndpointException(Endpoint, "ESB-TEST-FAILED", "It failed.", isTransient: false));
        var parked = await first;
        await DeliverAsync("a", 3, cancellationToken);

        Assert.That((isUnderWay, other, parked), Is.EqualTo((true, Settlement.Done, Settlement.Done)));
        Assert.That(Sent(), Is.EqualTo("1 2"));
        Assert.That(await LineAsync("a"), Is.EqualTo("1 3"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Parked_message_is_released_by_the_new_settings(CancellationToken cancellationToken)
    {
        Outside.Fails(times: 2);
        await StartAsync(
            ByKey with
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [Second, Second] },
            }
        );
        await DeliverAsync("a", 1, cancellationToken);
        await DeliverAsync("a", 2, cancellationToken);

        await ChangeAsync(
            ByKey with
            {
                Retry = new RetryConfig { Immediate = 5, Delays = [] },
            }
        );
        await ReleaseDueAsync(Second, cancellationToken);

        Assert.That(Sent(), Is.EqualTo("1 1 1 2"), "repeated at once");
        Assert.That(await LineAsync("a"), Is.Empty);
    }
}
