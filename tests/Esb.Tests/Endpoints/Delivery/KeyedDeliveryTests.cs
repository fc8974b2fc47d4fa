using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage.Files.Parking;
using Esb.Storage.Segments;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Endpoints.Delivery;

public sealed class KeyedDeliveryTests : DeliveryFixture
{
    private static readonly TestOutboundConfig ByKey = new() { Delivery = DeliveryMode.OrderedByKey, PoolSize = 8, ProcessingThreads = 8 };

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-keyed-");
    private readonly List<string?> _released = [];
    private DeliverySource _source = new(0, Guid.NewGuid(), CancellationToken.None);
    private SegmentLog _log = null!;
    private FileParkingStore _store = null!;

    [SetUp]
    public void OpenStore()
    {
        _log = SegmentLog.Open(_folder.FullName, SegmentOptions.Default, NullLogger.Instance);
        Parking = _store = new FileParkingStore(_folder.FullName, new Lazy<SegmentLog>(_log), Time, NullLogger.Instance);
        Queues.When(queues => queues.SendAsync("an-endpoint", Arg.Any<EsbMessage>(), DeliveryKind.Release, Arg.Any<CancellationToken>())).Do(call =>
        {
            lock (_released) _released.Add(call.Arg<EsbMessage>().Key);
        });
    }

    [TearDown]
    public async Task CloseStore()
    {
        await Controller.StopAsync(CancellationToken.None);
        _store.Dispose();
        await _log.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(10_000)]
    public async Task Endpoint_asks_for_lanes_and_no_delays(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey with { Lanes = 4 });

        Assert.That((Wanted!.Lanes, Wanted.SingleActive, Wanted.Concurrency, Wanted.RetryDelays.Count), Is.EqualTo(((int?)4, false, 8, 0)));
    }

    [Test, CancelAfter(10_000), Property("Case", "T-ORD-2")]
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
        Assert.That((await _store.ListAsync(null, 10, cancellationToken)).Single().DueAt, Is.Null, "an operator decides");
    }

    [TestCase(false, 0), TestCase(true, 32), CancelAfter(10_000), Property("Case", "XPT-11")]
    public async Task Message_that_an_operator_releases_begins_its_way_anew_and_one_that_waits_for_its_next_attempt_does_not(bool isTransient, int hops, CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 4, isTransient: isTransient);

        await DeliverAsync(Delivery(MessageHops.Set(Some.Message(key: "a"), hops: 32)) with { Source = _source }, cancellationToken);

        var parked = await _store.MessagesAsync("an-endpoint", "a", 10, cancellationToken);
        Assert.That(MessageHops.Of(parked.Single().Message), Is.EqualTo(hops));
    }

    [Test, CancelAfter(10_000)]
    public async Task Attempts_with_a_delay_wait_in_the_line_and_count_on(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 4);

        await DeliverAsync("a", 1, cancellationToken);
        await DeliverAsync("a", 2, cancellationToken);
        await ReleaseDueAsync(TimeSpan.FromSeconds(10), cancellationToken);
        var between = (await _store.MessagesAsync("an-endpoint", "a", 10, cancellationToken))[0];
        await ReleaseDueAsync(TimeSpan.FromSeconds(60), cancellationToken);

        Assert.That(Outside.Attempts.Select(attempt => attempt.Attempt), Is.EqualTo(new[] { 1, 2, 3, 4, 5, 1 }));
        Assert.That((between.Message.Attempt, between.Failures.Count), Is.EqualTo((4, 4)));
        Assert.That(Sent(), Is.EqualTo("1 1 1 1 1 2"));
        Assert.That(await LineAsync("a"), Is.Empty);
    }

    [Test, CancelAfter(10_000)]
    public async Task Key_that_is_turned_away_with_all_the_others_waits_for_the_first_delay_and_keeps_its_attempts(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey with { Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromSeconds(10)] } });
        Outside.TurnsAway(times: 11);
        for (var i = 1; i <= 10; i++) await DeliverAsync($"{i}", i, cancellationToken);
        var paused = Controller.Status.State;

        Time.Advance(TimeSpan.FromSeconds(10));
        await ReleaseAsync("10", cancellationToken);
        var waiting = (await _store.MessagesAsync("an-endpoint", "10", 10, cancellationToken)).Single();
        Time.Advance(TimeSpan.FromSeconds(10));
        await ReleaseAsync("10", cancellationToken);

        Assert.That((paused, Controller.Status.State), Is.EqualTo((EndpointState.Paused, EndpointState.Running)));
        Assert.That((waiting.Message.Attempt, waiting.DueAt), Is.EqualTo((0, (DateTimeOffset?)Time.GetUtcNow())), "no operator has to release it");
        Assert.That(await LineAsync("10"), Is.Empty);
    }

    [Test, CancelAfter(10_000)]
    public async Task Release_works_on_the_line_in_order_and_what_arrives_meanwhile_joins_its_end(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        for (var i = 1; i <= 20; i++) await DeliverAsync("a", i, cancellationToken);
        await _store.ReleaseAsync("an-endpoint", "a", cancellationToken);

        await ReleaseAsync("a", cancellationToken);
        var afterFirst = Sent();
        await DeliverAsync("b", 100, cancellationToken);
        await DeliverAsync("a", 21, cancellationToken);
        await ReleaseAsync("a", cancellationToken);
        await DeliverAsync("a", 22, cancellationToken);

        Assert.That(afterFirst, Is.EqualTo("1 " + string.Join(' ', Enumerable.Range(1, 16))), "then the other keys of the lane have their turn");
        Assert.That(_released, Is.EqualTo(new[] { "a" }), "and the rest is asked for");
        Assert.That(Sent(), Is.EqualTo("1 " + string.Join(' ', Enumerable.Range(1, 16)) + " 100 17 18 19 20 21 22"));
        Assert.That(await LineAsync("a"), Is.Empty);
    }

    [Test, CancelAfter(10_000), Property("Case", "AUD-02")]
    public async Task Texts_about_a_message_of_the_line_are_without_what_is_masked_in_it(CancellationToken cancellationToken)
    {
        Audit.Mask = new SecretBodies();
        await StartAsync(ByKey);
        var text = "";
        Outside.Fails(isTransient: false).Takes(_ =>
        {
            text = MaskedFlow.Clean("Key (card)=(4111) exists.");
            return Task.CompletedTask;
        });
        await DeliverAsync("a", 4111, cancellationToken);
        await _store.ReleaseAsync("an-endpoint", "a", cancellationToken);

        await ReleaseAsync("a", cancellationToken);

        Assert.That(text, Is.EqualTo("Key (card)=(****) exists."));
    }

    [Test, CancelAfter(10_000)]
    public async Task Release_that_comes_twice_or_too_early_does_nothing(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 3);
        await DeliverAsync("a", 1, cancellationToken);

        await ReleaseAsync("a", cancellationToken);
        await ReleaseAsync("unknown", cancellationToken);

        Assert.That(Outside.Attempts, Has.Count.EqualTo(3));
        Assert.That(await LineAsync("a"), Is.EqualTo("1"));
    }

    [Test, CancelAfter(10_000)]
    public async Task Due_keys_are_sent_to_their_lane_once(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 3);
        await DeliverAsync("a", 1, cancellationToken);

        Time.Advance(TimeSpan.FromSeconds(9));
        await Eventually.HoldsAsync(() => Time.Waiting > 0, "the timer runs", cancellationToken);
        var before = Released();
        for (var i = 0; i < 10; i++)
        {
            Time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(5, cancellationToken);
        }

        await Eventually.HoldsAsync(() => Released().Count > 0, "it is released", cancellationToken);
        Assert.That(before, Is.Empty);
        Assert.That(Released(), Is.EqualTo(new[] { "a" }));
    }

    [Test, CancelAfter(10_000)]
    public async Task Key_may_be_given_up_without_parking(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey with { OnFailure = FailureAction.DeadLetter });
        Outside.Fails(isTransient: false);

        var settlement = await DeliverAsync("a", 1, cancellationToken);
        await DeliverAsync("a", 2, cancellationToken);

        Assert.That(settlement, Is.InstanceOf<Settlement.Divert>());
        Assert.That(Sent(), Is.EqualTo("1 2"), "the key goes on");
    }

    [Test, CancelAfter(10_000)]
    public async Task Message_that_is_given_up_while_its_line_is_released_becomes_a_dead_letter_and_the_line_goes_on(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey with { OnFailure = FailureAction.DeadLetter, Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromSeconds(10)] } });
        Outside.Fails(times: 2);
        await DeliverAsync("a", 1, cancellationToken);
        await DeliverAsync("a", 2, cancellationToken);

        await ReleaseDueAsync(TimeSpan.FromSeconds(10), cancellationToken);

        await DeadLetters.Received(1).AddAsync(Arg.Is<DeadLetter>(letter => letter.Message.Body.ReadText() == "1" && letter.Failures.Count == 2), Arg.Any<CancellationToken>());
        Assert.That(Sent(), Is.EqualTo("1 1 2"));
        Assert.That(await LineAsync("a"), Is.Empty);
    }

    [Test, CancelAfter(10_000)]
    public async Task New_session_finds_what_is_parked(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        await DeliverAsync("a", 1, cancellationToken);

        _source = new DeliverySource(0, Guid.NewGuid(), CancellationToken.None);
        await DeliverAsync("a", 2, cancellationToken);

        Assert.That(Sent(), Is.EqualTo("1"));
        Assert.That(await LineAsync("a"), Is.EqualTo("1 2"));
    }

    [Test, CancelAfter(10_000)]
    public async Task Message_that_comes_again_after_it_was_parked_is_parked_once(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        var message = Some.Message("1", key: "a");
        await DeliverAsync(Delivery(message) with { Source = _source }, cancellationToken);

        await DeliverAsync(Delivery(message) with { Source = _source, Redeliveries = 1 }, cancellationToken);

        Assert.That(await LineAsync("a"), Is.EqualTo("1"));
    }

    [Test, CancelAfter(10_000)]
    public async Task Host_whose_lane_was_taken_over_touches_no_line_any_more(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        await DeliverAsync("a", 1, cancellationToken);
        await _store.TakeLaneAsync("an-endpoint", 0, cancellationToken); // another host

        var joining = DeliverAsync("a", 2, cancellationToken);
        await AdvanceUntilAsync(joining, TimeSpan.FromSeconds(1), cancellationToken);
        var other = DeliverAsync("b", 3, cancellationToken);
        await AdvanceUntilAsync(other, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That((joining.Result, other.Result), Is.EqualTo((Settlement.Return, Settlement.Return)));
        Assert.That(Sent(), Is.EqualTo("1"));
        Assert.That(await LineAsync("a"), Is.EqualTo("1"));
    }

    [Test, CancelAfter(10_000), Property("Case", "T-ORD-3")]
    public async Task Host_that_stood_still_asks_whether_the_lane_is_still_its_own_before_it_sends(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        await DeliverAsync("a", 1, cancellationToken);
        await _store.TakeLaneAsync("an-endpoint", 0, cancellationToken); // another host, meanwhile

        Time.Skip(TimeSpan.FromSeconds(45));
        var late = DeliverAsync("a", 2, cancellationToken);
        await AdvanceUntilAsync(late, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(late.Result, Is.EqualTo(Settlement.Return));
        Assert.That(Sent(), Is.EqualTo("1"), "no effect of a zombie");
    }

    [Test, CancelAfter(10_000)]
    public async Task Lost_channel_ends_a_delivery_without_parking_it(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        using var lost = new CancellationTokenSource();
        _source = new DeliverySource(0, Guid.NewGuid(), lost.Token);
        Outside.Takes(token => Task.Delay(Timeout.Infinite, token));

        var delivery = DeliverAsync("a", 1, cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "it is being sent", cancellationToken);
        await lost.CancelAsync();

        Assert.That(await delivery, Is.EqualTo(Settlement.Return));
        Assert.That(await LineAsync("a"), Is.Empty);
    }

    [Test, CancelAfter(10_000)]
    public async Task Outage_is_no_attempt_and_parks_nothing(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(times: 3, isOutage: true);

        var delivery = DeliverAsync("a", 1, cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
    }

    [Test, CancelAfter(10_000)]
    public async Task Request_behind_parked_messages_of_its_key_gets_a_fault(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        await DeliverAsync("a", 1, cancellationToken);

        await RequestAsync(Some.Message("2", key: "a"), cancellationToken);
        await RequestAsync(Some.Message("3", key: "b"), cancellationToken);

        Assert.That(Replies.Select(reply => reply.Headers[EsbHeaders.Fault]), Is.EqualTo(new[] { "ESB-ENDPOINT-PARKED" }), "the other one has no answer to give");
        Assert.That(Sent(), Is.EqualTo("1 3"));
    }

    [Test, CancelAfter(10_000)]
    public async Task Messages_without_a_key_are_one_line(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);

        await DeliverAsync(null, 1, cancellationToken);
        await DeliverAsync(null, 2, cancellationToken);
        await _store.ReleaseAsync("an-endpoint", "", cancellationToken);
        await ReleaseAsync(null, cancellationToken);

        Assert.That(Sent(), Is.EqualTo("1 1 2"));
    }

    [Test, CancelAfter(10_000), Property("Case", "T-POI-5")]
    public async Task Store_that_is_away_makes_the_endpoint_wait_without_a_hot_loop(CancellationToken cancellationToken)
    {
        var store = Substitute.For<IParkingStore>();
        store.TakeLaneAsync(default!, default, default).ReturnsForAnyArgs(new LaneOwner("an-endpoint", 0, 1, []));
        var calls = 0;
        store.ParkAsync(default!, default!, default).ReturnsForAnyArgs(_ =>
            ++calls < 4 ? Task.FromException(new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable)) : Task.CompletedTask);
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

    private Task<Settlement> DeliverAsync(string? key, int number, CancellationToken cancellationToken) =>
        DeliverAsync(Delivery(Some.Message($"{number}", key: key)) with { Source = _source }, cancellationToken);

    private Task<Settlement> ReleaseAsync(string? key, CancellationToken cancellationToken) =>
        DeliverAsync(Delivery(Some.Message("", key: key)) with { Kind = DeliveryKind.Release, Source = _source }, cancellationToken);

    private async Task ReleaseDueAsync(TimeSpan after, CancellationToken cancellationToken)
    {
        Time.Advance(after);
        await ReleaseAsync("a", cancellationToken);
    }

    private string Sent() => string.Join(' ', Outside.Attempts.Select(message => message.Body.ReadText()));

    private List<string?> Released()
    {
        lock (_released) return [.. _released];
    }

    private async Task<string> LineAsync(string key) =>
        string.Join(' ', (await _store.MessagesAsync("an-endpoint", key, 1000, CancellationToken.None)).Select(parked => parked.Message.Body.ReadText()));
}
