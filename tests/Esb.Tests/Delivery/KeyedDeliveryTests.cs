using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Esb.Core.Audit;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Delivery;

/// <summary>Of a message that fails, only its own key waits.</summary>
public sealed class KeyedDeliveryTests : KeyedDeliveryFixture
{
    [Test, CancelAfter(10_000)]
    public async Task Endpoint_asks_for_lanes_and_no_delays(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey with { Lanes = 4 });

        Assert.That((Wanted!.Lanes, Wanted.SingleActive, Wanted.Concurrency, Wanted.RetryDelays.Count), Is.EqualTo(((int?)4, false, 8, 0)));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-ORD-2")]
    public async Task Message_that_is_given_up_parks_its_key_and_the_other_keys_go_on(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);

        var poison = await DeliverAsync("a", 1, cancellationToken);
        var later = await DeliverAsync("a", 2, cancellationToken);
        var other = await DeliverAsync("b", 3, cancellationToken);

        Assert.That((poison, later, other), Is.EqualTo((Settlement.Done, Settlement.Done, Settlement.Done)));
        Assert.That(Sent(), Is.EqualTo("1 3"));
        Assert.That(await LineAsync("a"), Is.EqualTo("1 2"));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Failed, AuditKind.Parked, AuditKind.Parked, AuditKind.Delivered }));
        Assert.That((await Store.ListAsync(null, null, 10, cancellationToken)).Single().DueAt, Is.Null, "an operator decides");
    }

    [Test, CancelAfter(30_000)]
    public async Task Parked_message_counts_for_its_topic_and_its_party(CancellationToken cancellationToken)
    {
        var party = $"party-{Guid.NewGuid():N}";
        var counted = new ConcurrentBag<Dictionary<string, object?>>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Name == EsbTelemetry.Metrics.Parked)
                    self.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>((_, _, tags, _) => counted.Add(new(tags.ToArray())));
        listener.Start();
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);

        await DeliverAsync(Delivery(Some.Message("1", key: "a") with { Party = party }) with { Source = Source }, cancellationToken);

        var tags = counted.Single(tags => party.Equals(tags.GetValueOrDefault(EsbTelemetry.Tags.Party)));
        Assert.That(
            (tags[EsbTelemetry.Tags.Endpoint], tags[EsbTelemetry.Tags.Topic], tags[EsbTelemetry.Tags.ErrorType]),
            Is.EqualTo(("an-endpoint", "orders", "ESB-TEST-FAILED"))
        );
    }

    [Test, CancelAfter(10_000)]
    public async Task Attempts_with_a_delay_wait_in_the_line_and_count_on(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 4);

        await DeliverAsync("a", 1, cancellationToken);
        await DeliverAsync("a", 2, cancellationToken);
        await ReleaseDueAsync(TimeSpan.FromSeconds(10), cancellationToken);
        var between = (await Store.MessagesAsync("an-endpoint", "a", 0, 10, cancellationToken))[0];
        await ReleaseDueAsync(TimeSpan.FromSeconds(60), cancellationToken);

        Assert.That(Outside.Attempts.Select(attempt => attempt.Attempt), Is.EqualTo(new[] { 1, 2, 3, 4, 5, 1 }));
        Assert.That((between.Message.Attempt, between.Failures.Count), Is.EqualTo((4, 4)));
        Assert.That(Sent(), Is.EqualTo("1 1 1 1 1 2"));
        Assert.That(await LineAsync("a"), Is.Empty);
    }

    [Test, CancelAfter(10_000)]
    public async Task Key_that_is_turned_away_with_all_the_others_waits_for_the_first_delay_and_keeps_its_attempts(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(
            ByKey with
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromSeconds(10)] },
            }
        );
        Outside.TurnsAway(times: 11);
        for (var i = 1; i <= 10; i++)
            await DeliverAsync($"{i}", i, cancellationToken);
        var paused = Controller.Status.State;

        Time.Advance(TimeSpan.FromSeconds(10));
        await ReleaseAsync("10", cancellationToken);
        var waiting = (await Store.MessagesAsync("an-endpoint", "10", 0, 10, cancellationToken)).Single();
        Time.Advance(TimeSpan.FromSeconds(10));
        await ReleaseAsync("10", cancellationToken);

        Assert.That((paused, Controller.Status.State), Is.EqualTo((EndpointState.Paused, EndpointState.Running)));
        Assert.That(
            (waiting.Message.Attempt, waiting.DueAt),
            Is.EqualTo((0, (DateTimeOffset?)Time.GetUtcNow())),
            "no operator has to release it"
        );
        Assert.That(await LineAsync("10"), Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Key_may_be_given_up_without_parking(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey with { OnFailure = FailureAction.DeadLetter });
        Outside.Fails(isTransient: false);

        var settlement = await DeliverAsync("a", 1, cancellationToken);
        await DeliverAsync("a", 2, cancellationToken);

        Assert.That(settlement, Is.InstanceOf<Settlement.Divert>());
        Assert.That(Sent(), Is.EqualTo("1 2"), "the key goes on");
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_comes_again_after_it_was_parked_is_parked_once(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        var message = Some.Message("1", key: "a");
        await DeliverAsync(Delivery(message) with { Source = Source }, cancellationToken);

        await DeliverAsync(Delivery(message) with { Source = Source, Redeliveries = 1 }, cancellationToken);

        Assert.That(await LineAsync("a"), Is.EqualTo("1"));
    }

    [TestCase(false)]
    [TestCase(true, Description = "it is known that nothing was sent: no connection, no access token")]
    [CancelAfter(30_000)]
    public async Task Outage_is_no_attempt_and_parks_nothing(bool isUnsent, CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 3, isOutage: true, isUnsent: isUnsent);

        var delivery = DeliverAsync("a", 1, cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_behind_parked_messages_of_its_key_gets_a_fault(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        await DeliverAsync("a", 1, cancellationToken);

        await RequestAsync(Some.Message("2", key: "a"), cancellationToken);
        await RequestAsync(Some.Message("3", key: "b"), cancellationToken);

        Assert.That(
            Replies.Select(reply => reply.Headers[EsbHeaders.Fault]),
            Is.EqualTo(new[] { "ESB-ENDPOINT-PARKED" }),
            "the other one has no answer to give"
        );
        Assert.That(Sent(), Is.EqualTo("1 3"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Messages_without_a_key_are_one_line(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);

        await DeliverAsync(null, 1, cancellationToken);
        await DeliverAsync(null, 2, cancellationToken);
        await Store.ReleaseAsync("an-endpoint", "", cancellationToken);
        await ReleaseAsync(null, cancellationToken);

        Assert.That(Sent(), Is.EqualTo("1 1 2"));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-POI-5")]
    public async Task Store_that_is_away_makes_the_endpoint_wait_without_a_hot_loop(CancellationToken cancellationToken)
    {
        var store = Substitute.For<IParkingStore>();
        store.TakeLaneAsync(default!, default, default).ReturnsForAnyArgs(new LaneOwner("an-endpoint", 0, 1, []));
        var calls = 0;
        store
            .ParkAsync(default!, default!, default)
            .ReturnsForAnyArgs(_ =>
                ++calls < 4
                    ? Task.FromException(new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable))
                    : Task.CompletedTask
            );
        Parking = store;
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        var started = Time.GetUtcNow();

        var delivery = DeliverAsync("a", 1, cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Paused, "the endpoint waits", cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
        Assert.That(Outside.Attempts, Has.Count.EqualTo(1), "what is known of the message is kept, not found out again");
        Assert.That(Time.GetUtcNow() - started, Is.GreaterThanOrEqualTo(TimeSpan.FromSeconds(11)));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }
}
