using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Planning;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Planning;

namespace Esb.IntegrationTests.Topics;

/// <summary>What a plan says of queues, and a migration from one kind of delivery to another.</summary>
[TestFixture]
public sealed class QueueMigrationTests : BrokerFixture
{
    private BrokerSession _session = null!;

    [SetUp]
    public async Task OpenSession() =>
        _session = await BrokerSession.OpenAsync(new RabbitMqTransportConfig { Url = Servers.RabbitMq, Prefix = Broker.Prefix }, [.. Topics.Keys], TimeProvider.System, CancellationToken.None);

    [TearDown]
    public async Task CloseSession() => await _session.DisposeAsync();

    [Test, CancelAfter(30_000)]
    public async Task A_plan_tells_what_would_be_made_and_what_stays(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#") with { Lanes = 2, RetryDelays = [] };

        var before = await PlanAsync(subscription, cancellationToken);
        await (await SubscribeAsync(new Inbox().HandleAsync, subscription)).DisposeAsync();
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var after = await PlanAsync(subscription, cancellationToken);
        var more = await PlanAsync(subscription with { Patterns = [SubjectPattern.Parse("prices.#")!] }, cancellationToken);

        Assert.That(before.Select(change => (change.Kind, change.Detail)), Is.All.EqualTo((ChangeKind.Create, "quorum, single active consumer")));
        Assert.That(before.Select(change => change.Object), Is.EqualTo(Broker.Names.LanesOf(subscription).Select(queue => $"queue {queue}")));
        Assert.That(after.Select(change => change.Kind), Is.All.EqualTo(ChangeKind.Keep));
        Assert.That(after.Count(change => change.Detail == "1 messages wait, 0 consumers"), Is.EqualTo(1));
        Assert.That(more.TakeLast(2).Select(change => (change.Kind, change.Detail)), Is.EqualTo(new[] { (ChangeKind.Create, "prices.#"), (ChangeKind.Change, "orders.# ends when no host wants it") }));
    }

    [TestCase(false, null, true, null)]
    [TestCase(false, null, false, 4)]
    [TestCase(true, null, false, 4)]
    [TestCase(false, 4, false, 8)]
    [TestCase(false, 4, false, null)]
    [CancelAfter(60_000)]
    public async Task A_migration_brings_everything_over_in_its_order(bool wasOrdered, int? lanesBefore, bool isOrdered, int? lanesAfter, CancellationToken cancellationToken)
    {
        var before = Subscription("orders.#") with { SingleActive = wasOrdered, Lanes = lanesBefore };
        var after = before with { SingleActive = isOrdered, Lanes = lanesAfter };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        for (var i = 0; i < 60; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 6}" }, cancellationToken);

        var planned = await PlanAsync(after, cancellationToken);
        var told = new ConcurrentQueue<string>();
        await new QueueMigration(_session, after, told.Enqueue, TimeProvider.System).RunAsync(cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);
        for (var i = 60; i < 72; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 6}" }, cancellationToken);
        var deliveries = await inbox.NextAsync(72, cancellationToken);

        Assert.That(planned.Single().Kind, Is.EqualTo(ChangeKind.Migrate));
        Assert.That(planned.Single().Detail, Does.EndWith("60 messages wait"));
        Assert.That(told, Has.Some.Contains("60 messages set aside"));
        Assert.That(deliveries.Select(delivery => (delivery.Message.Subject, delivery.Kind)), Is.All.EqualTo(("orders.accepted", DeliveryKind.Published)));
        Assert.That(deliveries.Select(delivery => int.Parse(delivery.Message.Body.ReadText())).Order(), Is.EqualTo(Enumerable.Range(0, 72)));
        foreach (var key in deliveries.GroupBy(delivery => delivery.Message.Key)) Assert.That(key.Select(delivery => int.Parse(delivery.Message.Body.ReadText())), Is.Ordered, key.Key);
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_migration_that_was_stopped_goes_on_and_nobody_consumes_meanwhile(CancellationToken cancellationToken)
    {
        var before = Subscription("orders.#");
        var after = before with { Lanes = 4 };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        for (var i = 0; i < 40; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);

        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var stopped = new QueueMigration(_session, after, _ => stopping.Cancel(), TimeProvider.System).RunAsync(stopping.Token);
        Assert.CatchAsync<OperationCanceledException>(() => stopped);
        for (var i = 40; i < 50; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        var early = await SubscribeAsync(new Inbox().HandleAsync, after);
        var reason = early.Reason;
        await early.DisposeAsync();
        var planned = await PlanAsync(after, cancellationToken);
        await new QueueMigration(_session, after, TestContext.Out.WriteLine, TimeProvider.System).RunAsync(cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);
        var deliveries = await inbox.NextAsync(50, cancellationToken);

        Assert.That(reason, Does.StartWith("ESB-CFG-QUEUEDRIFT").And.Contains("not finished"));
        Assert.That(planned.Single().Kind, Is.EqualTo(ChangeKind.Migrate));
        Assert.That(deliveries.Select(delivery => delivery.Message.Body.ReadText()), Is.EqualTo(Enumerable.Range(0, 50).Select(i => $"{i}")));
    }

    [Test, CancelAfter(30_000)]
    public async Task What_hosts_consume_is_not_migrated(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#");
        await SubscribeAsync(new Inbox().HandleAsync, subscription);

        var failure = Assert.ThrowsAsync<EsbException>(() => new QueueMigration(_session, subscription with { SingleActive = true }, _ => { }, TimeProvider.System).RunAsync(cancellationToken));

        Assert.That(failure!.Code, Is.EqualTo("ESB-PLAN-BUSY"));
    }

    private Task<IReadOnlyList<PlannedChange>> PlanAsync(Subscription subscription, CancellationToken cancellationToken) => new EndpointPlan(_session, subscription).CompareAsync(cancellationToken);
}
