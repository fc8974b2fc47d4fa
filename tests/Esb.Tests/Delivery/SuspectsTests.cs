using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

public sealed class SuspectsTests : DeliveryFixture
{
    [Test, CancelAfter(30_000), Property("Case", "T-POI-2")]
    public async Task Message_that_killed_the_process_twice_while_alone_is_given_up_without_another_attempt(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(new TestOutboundConfig());
        var poison = Some.Message();
        Marks.Left[poison.Id] = 2;

        var settlement = await DeliverAsync(Delivery(poison) with { Redeliveries = 3 }, cancellationToken);

        Assert.That(((Settlement.Divert)settlement).Letter.Code, Is.EqualTo("ESB-DELIVERY-CRASH"));
        Assert.That(Outside.Attempts, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Suspect_has_a_mark_while_it_is_sent_and_none_once_the_process_has_lived_through_it(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(new TestOutboundConfig());
        var suspect = Some.Message();
        var during = 0;
        Outside.Takes(_ =>
        {
            during = Marks.Left[suspect.Id];
            return Task.CompletedTask;
        });
        Marks.Left[suspect.Id] = 1;

        await DeliverAsync(Delivery(suspect) with { Redeliveries = 1 }, cancellationToken);

        Assert.That(during, Is.EqualTo(2));
        Assert.That(Marks.Left, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Suspects_are_sent_one_at_a_time_and_others_beside_them(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { PoolSize = 10, ProcessingThreads = 10 });
        var sending = new TaskCompletionSource();
        Outside.Takes(_ => sending.Task);
        var first = DeliverAsync(Delivery(Some.Message()) with { Redeliveries = 1 }, cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "the first is being sent", cancellationToken);

        var second = DeliverAsync(Delivery(Some.Message()) with { Redeliveries = 1 }, cancellationToken);
        await DeliverAsync(Some.Message(), cancellationToken);
        var before = Outside.Attempts.Count;
        sending.SetResult();
        await Task.WhenAll(first, second);

        Assert.That(before, Is.EqualTo(2), "the first suspect and the one that is none");
    }

    [Test, CancelAfter(10_000)]
    public async Task Suspects_do_not_wait_for_a_store_that_is_away(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Marks.IsAway = true;

        var settlement = await DeliverAsync(Delivery(Some.Message()) with { Redeliveries = 1 }, cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-DEL-1")]
    public async Task Mark_that_a_store_which_went_away_has_kept_is_no_death(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        var suspect = Some.Message();
        for (var redelivery = 1; redelivery <= 4; redelivery++)
        {
            Outside.Takes(_ =>
            {
                Marks.IsAway = true;
                return Task.CompletedTask;
            });
            Assert.That(
                await DeliverAsync(Delivery(suspect) with { Redeliveries = redelivery }, cancellationToken),
                Is.EqualTo(Settlement.Done),
                $"redelivery {redelivery}"
            );
            Marks.IsAway = false;
        }

        Assert.That(Marks.Left, Is.Not.Empty);
        Time.Advance(TimeSpan.FromSeconds(1));
        await Eventually.HoldsAsync(() => Marks.Left.Count == 0, "it is taken off", cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_in_order_stands_at_a_message_that_killed_the_process_until_an_operator_decides(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        var poison = Some.Message();
        Marks.Left[poison.Id] = 2;

        var delivery = DeliverAsync(Delivery(poison) with { Redeliveries = 3 }, cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Stopped, "the endpoint stops", cancellationToken);
        Time.Advance(TimeSpan.FromMinutes(10));
        var before = Outside.Attempts.Count;
        await Eventually.HoldsAsync(
            () => Controller.TryMoveOn(poison.Id, discard: false, decision: null),
            "it moves on",
            cancellationToken
        );

        Assert.That(await delivery, Is.EqualTo(Settlement.Done));
        Assert.That((before, Outside.Attempts.Count), Is.EqualTo((0, 1)));
    }
}
