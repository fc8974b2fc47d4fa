using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Delivery;

/// <summary>Ladders in place outlive the process that began them.</summary>
public sealed class AttemptBookTests : DeliveryFixture
{
    private static readonly TestOutboundConfig Ordered = new() { Delivery = DeliveryMode.Ordered, OnFailure = FailureAction.DeadLetter };
    private static readonly TestOutboundConfig ByKey = new() { Delivery = DeliveryMode.OrderedByKey };

    private DeliverySource _source = NewSession();

    [Test, CancelAfter(30_000), Property("Case", "T-POI-1")]
    public async Task Message_goes_on_with_its_ladder_in_the_next_process_and_its_letter_has_all_attempts(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(Ordered);
        Outside.Fails(times: 6);
        var message = Some.Message();
        var begun = Time.GetUtcNow();
        var first = ReceiveAsync(message, cancellationToken);
        while (Attempts[message.Id]?.Count != 4)
        {
            Time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(1, cancellationToken);
        }

        var dueAt = Attempts[message.Id]!.DueAt!.Value;
        await Controller.StopAsync(cancellationToken);
        var left = await first;

        await StartAsync(Ordered);
        _source = NewSession();
        var next = ReceiveAsync(message, cancellationToken);
        await AdvanceUntilAsync(next, TimeSpan.FromSeconds(1), cancellationToken);

        var letter = ((Settlement.Divert)next.Result).Letter;
        Assert.That(left, Is.EqualTo(Settlement.Return));
        Assert.That(Numbers(), Is.EqualTo(new[] { 1, 2, 3, 4, 5, 6 }));
        Assert.That((letter.Attempts, letter.Failures.Count), Is.EqualTo((6, 6)));
        Assert.That(letter.FirstAttempt, Is.LessThan(begun + TimeSpan.FromSeconds(10)), "in the process before");
        Assert.That(letter.Failures[4].At, Is.GreaterThanOrEqualTo(dueAt), "the delay that had begun goes on");
        Assert.That(Attempts.Count, Is.Zero, "what is settled is forgotten");
    }

    [Test, CancelAfter(30_000)]
    public async Task Store_is_read_once_when_a_queue_begins_to_be_received_and_not_written_while_nothing_fails(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(Ordered);
        for (var i = 0; i < 5; i++)
            await ReceiveAsync(Some.Message(), cancellationToken);
        _source = NewSession();
        for (var i = 0; i < 5; i++)
            await ReceiveAsync(Some.Message(), cancellationToken);

        Assert.That((Attempts.Reads, Attempts.Changes), Is.EqualTo((2, 0)));
    }

    [Test, CancelAfter(10_000)]
    public async Task Failure_that_lets_the_message_go_at_once_costs_the_store_nothing(CancellationToken cancellationToken)
    {
        await StartAsync(Ordered);
        Outside.Fails(isTransient: false);

        var settlement = await ReceiveAsync(Some.Message(), cancellationToken);

        Assert.That(settlement, Is.InstanceOf<Settlement.Divert>());
        Assert.That(Attempts.Changes, Is.Zero);
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_goes_back_while_the_endpoint_is_paused_counts_on_although_the_store_is_away(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(Ordered);
        Attempts.IsAway = true;
        Outside.Fails(times: 4);
        var message = Some.Message();
        var first = ReceiveAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => Attempts.Changes == 3, "the third attempt failed", cancellationToken);
        await Controller.TuneAsync(new EndpointTuning { Paused = true }, cancellationToken);
        var paused = await first;

        await Controller.TuneAsync(new EndpointTuning { Paused = false }, cancellationToken);
        _source = NewSession();
        var next = ReceiveAsync(message, cancellationToken);
        await AdvanceUntilAsync(next, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That((paused, next.Result), Is.EqualTo((Settlement.Return, Settlement.Done)));
        Assert.That(Numbers(), Is.EqualTo(new[] { 1, 2, 3, 4, 5 }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Attempts_of_another_host_that_had_the_queue_meanwhile_count(CancellationToken cancellationToken)
    {
        await StartAsync(Ordered);
        Outside.Fails(times: 2);
        var message = Some.Message();
        using var losing = new CancellationTokenSource();
        _source = _source with { Lost = losing.Token };
        Outside.Takes(token => Task.Delay(Timeout.Infinite, token));
        var first = ReceiveAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 3, "the third attempt is under way", cancellationToken);
        await losing.CancelAsync();
        await first;

        Attempts[message.Id] = Attempts[message.Id]! with { Count = 5 };
        _source = NewSession();
        await ReceiveAsync(message, cancellationToken);

        Assert.That(Numbers(), Is.EqualTo(new[] { 1, 2, 3, 6 }));
    }

    [Test, CancelAfter(10_000)]
    public async Task Host_whose_clock_is_late_waits_no_longer_than_the_longest_delay(CancellationToken cancellationToken)
    {
        await StartAsync(Ordered);
        var (message, now) = (Some.Message(), Time.GetUtcNow());
        Attempts[message.Id] = new KeptAttempts(1, [new FailedAttempt(now, "ESB-TEST-FAILED", "It failed.")], now + TimeSpan.FromHours(10));

        var delivery = ReceiveAsync(message, cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(Time.GetUtcNow() - now, Is.InRange(TimeSpan.FromSeconds(300), TimeSpan.FromHours(1)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_that_stood_at_a_message_tries_it_once_in_the_next_process_and_stands_again(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        Outside.Fails(times: 10, isTransient: true);
        var message = Some.Message();
        var now = Time.GetUtcNow();
        Attempts[message.Id] = new KeptAttempts(6, [new FailedAttempt(now, "ESB-TEST-FAILED", "It failed.")], DueAt: null);

        var delivery = ReceiveAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Stopped, "the endpoint stops", cancellationToken);

        Assert.That(Numbers(), Is.EqualTo(new[] { 7 }), "the ladder is not begun anew");
        await Controller.StopAsync(cancellationToken);
        await delivery;
    }

    [Test, CancelAfter(10_000)]
    public async Task Attempts_at_once_of_a_key_count_on_in_the_next_session(CancellationToken cancellationToken)
    {
        Parking.TakeLaneAsync(default!, default, default).ReturnsForAnyArgs(new LaneOwner("an-endpoint", 0, 1, []));
        await StartAsync(ByKey);
        using var losing = new CancellationTokenSource();
        _source = _source with { Lost = losing.Token };
        Outside.Fails().Takes(token => Task.Delay(Timeout.Infinite, token));
        var message = Some.Message(key: "a");
        var first = ReceiveAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 2, "the second attempt is under way", cancellationToken);
        await losing.CancelAsync();
        await first;

        _source = NewSession();
        var settlement = await ReceiveAsync(message, cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
        Assert.That(Numbers(), Is.EqualTo(new[] { 1, 2, 2 }), "the one that nobody saw the end of is made again");
        Assert.That(Attempts.Count, Is.Zero);
        await Controller.StopAsync(cancellationToken);
    }

    private Task<Settlement> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken) =>
        DeliverAsync(Delivery(message) with { Source = _source }, cancellationToken);

    private IEnumerable<int> Numbers() => Outside.Attempts.Select(attempt => attempt.Attempt);

    private static DeliverySource NewSession() => new(0, Guid.NewGuid(), CancellationToken.None);
}
