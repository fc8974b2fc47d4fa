using System.Collections.Concurrent;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Workflows.Workflows.Running;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Messages of owners, of which each is an instance: there are ever more of them.</summary>
[CancelAfter(30_000)]
public sealed class OutboxPublisherTests
{
    private readonly ConcurrentQueue<string> _published = [];
    private IOutboxStore _store = null!;
    private OutboxPublisher _outbox = null!;
    private Task _confirmed = Task.CompletedTask;
    private int _asked;

    [SetUp]
    public void Make()
    {
        _store = Substitute.For<IOutboxStore>();
        _store.ClaimAsync(default, default, default).ReturnsForAnyArgs([]);
        var publisher = Substitute.For<IOutgoingPublisher>();
        publisher.PublishAsync(default!, default).ReturnsForAnyArgs(call => PublishAsync(call.Arg<OutgoingMessage>()));
        (_confirmed, _outbox) = (
            Task.CompletedTask,
            new OutboxPublisher(
                _store,
                publisher,
                Substitute.For<IEndpointQueues>(),
                answers: null!, // none of the messages is one
                TimeProvider.System,
                NullLogger<OutboxPublisher>.Instance
            )
        );
        _published.Clear();
        _asked = 0;
        _outbox.Start();
    }

    [TearDown]
    public async Task Stop() => await _outbox.DisposeAsync();

    [Test]
    public async Task Owner_whose_messages_are_published_is_forgotten(CancellationToken cancellationToken)
    {
        for (var number = 0; number < 1_000; number++)
            _outbox.Publish([Message($"owner {number}", "orders.one"), Message($"owner {number}", "orders.two")], followsOthers: false);

        while (_outbox.OwnersUnderWay > 0)
            await Task.Delay(10, cancellationToken);
        Assert.That(_published, Has.Count.EqualTo(2_000));
    }

    [Test]
    public async Task Messages_of_an_owner_keep_their_order_also_while_one_waits(CancellationToken cancellationToken)
    {
        var confirmed = new TaskCompletionSource();
        _confirmed = confirmed.Task;
        for (var number = 0; number < 100; number++)
            _outbox.Publish([Message("owner", $"orders.n{number}")], followsOthers: false);
        var underWay = _outbox.OwnersUnderWay;
        confirmed.SetResult();

        while (_outbox.OwnersUnderWay > 0)
            await Task.Delay(10, cancellationToken);
        Assert.That(underWay, Is.EqualTo(1));
        Assert.That(_published, Is.EqualTo(Enumerable.Range(0, 100).Select(number => $"orders.n{number}")));
    }

    [Test]
    public async Task Broker_is_not_asked_for_more_at_once_than_it_confirms_at_once(CancellationToken cancellationToken)
    {
        var confirmed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _confirmed = confirmed.Task;
        for (var number = 0; number < 1_000; number++)
            _outbox.Publish([Message($"owner {number}", "orders.one")], followsOthers: false);
        while (Volatile.Read(ref _asked) < 256)
            await Task.Delay(10, cancellationToken);
        await Task.Delay(100, cancellationToken); // none of the others follows
        var asked = Volatile.Read(ref _asked);
        confirmed.SetResult();

        while (_outbox.OwnersUnderWay > 0)
            await Task.Delay(10, cancellationToken);
        Assert.That((asked, _published.Count), Is.EqualTo((256, 1_000)));
    }

    [Test]
    public async Task Message_whose_predecessors_were_removed_meanwhile_does_not_wait_for_the_end_of_its_claim(
        CancellationToken cancellationToken
    )
    {
        var message = Message("owner", "orders.two");
        var released = 0;
        _store
            .ExtendAsync(default!, default, default)
            .ReturnsForAnyArgs(call =>
            {
                if (call.Arg<TimeSpan>() == TimeSpan.Zero)
                    Volatile.Write(ref released, call.Arg<IReadOnlyList<Guid>>().Count(id => id == message.Id));
                return Task.CompletedTask;
            });
        _store.ClaimAsync(default, default, default).ReturnsForAnyArgs(_ => Claimed());

        _outbox.Publish([message], followsOthers: true);

        while (_published.IsEmpty)
            await Task.Delay(10, cancellationToken);
        Assert.That(_published, Is.EqualTo(new[] { "orders.two" }));

        IReadOnlyList<OutboxMessage> Claimed() => Interlocked.Exchange(ref released, 0) == 1 ? [message] : [];
    }

    private async Task<Task> PublishAsync(OutgoingMessage outgoing)
    {
        Interlocked.Increment(ref _asked);
        await _confirmed;
        _published.Enqueue(outgoing.Message.Subject);
        return Task.CompletedTask;
    }

    private static OutboxMessage Message(string owner, string subject) =>
        new(owner, new OutgoingMessage(Some.Message(subject: subject), "work", null, default));
}
