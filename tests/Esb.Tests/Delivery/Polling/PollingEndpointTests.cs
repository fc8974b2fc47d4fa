using System.Collections.Concurrent;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;
using Esb.Tests.Endpoints.Files;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery.Polling;

/// <summary>What every polling endpoint does, on a source in memory: it has nothing of files.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase), CancelAfter(30_000)]
public sealed class PollingEndpointTests
{
    private readonly Source _source = new();
    private readonly RecordingIntake _intake = new();
    private readonly IntakeHold _hold = new("rows", TimeProvider.System);

    [Test]
    public async Task What_is_found_is_claimed_handed_over_and_put_away(CancellationToken cancellationToken)
    {
        _source.Add("one", "two", "three");

        await using var endpoint = await StartAsync();

        await Eventually.HoldsAsync(() => _source.PutAway.Count == 3, "all are put away", cancellationToken);
        Assert.That(_intake.Bodies, Is.EqualTo(["one", "two", "three"]));
        Assert.That(_source.PutAway.Select(item => item.MessageId), Is.EqualTo(_intake.Messages.Select(message => message.Id)));
    }

    [Test]
    public async Task Item_is_put_away_only_once_its_message_has_arrived(CancellationToken cancellationToken)
    {
        var arrived = new TaskCompletionSource();
        var intake = new RecordingIntake { IsDurable = false, Answer = (_, _) => Task.FromResult<Task>(arrived.Task) };
        _source.Add("one");
        await using var endpoint = await StartAsync(intake);
        await Eventually.HoldsAsync(() => intake.Messages.Count == 1, "it is handed over", cancellationToken);

        var before = _source.PutAway.Count;
        arrived.SetResult();

        await Eventually.HoldsAsync(() => _source.PutAway.Count == 1, "it is put away", cancellationToken);
        Assert.That(before, Is.Zero);
    }

    [Test]
    public async Task Refused_item_is_put_away_with_the_reason(CancellationToken cancellationToken)
    {
        _intake.Answer = (_, _) => throw new EsbException("ESB-XML-SYNTAX", "The body is no XML.", FaultKind.Malformed);
        _source.Add("bad");

        await using var endpoint = await StartAsync();

        await Eventually.HoldsAsync(() => _source.PutAway.Count == 1, "it is put away", cancellationToken);
        Assert.That(_source.PutAway.Single().Refusal, Is.EqualTo(new PolledRefusal("ESB-XML-SYNTAX", "The body is no XML.")));
    }

    [Test]
    public async Task What_could_not_be_put_away_is_not_handed_over_again(CancellationToken cancellationToken)
    {
        _source.PutAwayFailures = 1;
        _source.Add("one");

        await using var endpoint = await StartAsync();

        await Eventually.HoldsAsync(() => _source.PutAway.Count == 1, "it is put away at last", cancellationToken);
        Assert.That((_intake.Messages.Count, _source.PutAway.Single().HasArrived), Is.EqualTo((1, true)));
    }

    [Test]
    public async Task What_a_dead_host_left_is_taken_over_as_the_same_message(CancellationToken cancellationToken)
    {
        var left = new Item(Guid.NewGuid(), "left");
        _source.Left.Enqueue(left);

        await using var endpoint = await StartAsync();

        await Eventually.HoldsAsync(() => _source.PutAway.Count == 1, "it is put away", cancellationToken);
        Assert.That(_intake.Messages.Single().Id, Is.EqualTo(left.MessageId));
    }

    [Test]
    public async Task Source_is_not_looked_at_while_the_endpoint_is_held(CancellationToken cancellationToken)
    {
        _hold.Pause(true);
        _source.Add("one");
        await using var endpoint = await StartAsync();
        await Eventually.HoldsAsync(() => _hold.Waiting == 1, "it waits", cancellationToken);

        var before = (_source.Looks, _intake.Messages.Count);
        _hold.Pause(false);

        await Eventually.HoldsAsync(() => _source.PutAway.Count == 1, "it goes on", cancellationToken);
        Assert.That(before, Is.EqualTo((0, 0)));
    }

    [Test]
    public async Task Source_that_is_away_is_told_once_and_so_is_that_it_is_back(CancellationToken cancellationToken)
    {
        _source.IsAway = true;
        _source.Add("one");
        await using var endpoint = await StartAsync();
        await Eventually.HoldsAsync(() => _source.AwayLooks >= 3, "it has tried again and again", cancellationToken);
        var reason = endpoint.Reason;

        _source.IsAway = false;

        await Eventually.HoldsAsync(() => _source.PutAway.Count == 1, "it goes on", cancellationToken);
        await Eventually.HoldsAsync(() => endpoint.Reason is null, "there is no reason any more", cancellationToken);
        Assert.That(_source.Told, Is.EqualTo(["away", "back"]));
        Assert.That(reason, Is.Not.Empty.And.Not.Null, "shown to operators");
    }

    [Test]
    public async Task Stopping_waits_for_what_is_handed_over_and_nothing_is_looked_for_any_more(CancellationToken cancellationToken)
    {
        var taken = new TaskCompletionSource();
        _intake.Answer = async (_, _) =>
        {
            await taken.Task;
            return Task.CompletedTask;
        };
        _source.Add("one");
        await using var endpoint = await StartAsync();
        await Eventually.HoldsAsync(() => _intake.Messages.Count == 1, "it is handed over", cancellationToken);

        var stopping = endpoint.StopAsync(cancellationToken);
        var before = stopping.IsCompleted;
        taken.SetResult();
        await stopping;
        var looks = _source.Looks;
        _source.Add("two");
        await Task.Delay(50, cancellationToken); // five intervals

        Assert.That((before, _source.Looks - looks, _intake.Messages.Count, _source.PutAway.Count), Is.EqualTo((false, 0, 1, 1)));
    }

    private async Task<Rows> StartAsync(RecordingIntake? intake = null)
    {
        var admission = new Admission(
            overload: null,
            audit: null,
            needsTopics: false,
            new CallGate(maximum: 1, TimeProvider.System),
            _hold
        );
        var endpoint = new Rows(_source, new Desk(_source, new HandOver(intake ?? _intake), admission), admission);
        await endpoint.StartAsync(CancellationToken.None);
        return endpoint;
    }

    private sealed record Item(Guid MessageId, string Text) : PolledItem(MessageId);

    private sealed class AwayException : Exception;

    /// <summary>Rows, and what was asked of them.</summary>
    private sealed class Source
    {
        private readonly ConcurrentQueue<string> _rows = new();
        private readonly ConcurrentQueue<Item> _putAway = new();
        private int _looks;
        private int _awayLooks;
        private volatile bool _isAway;
        private int _putAwayFailures;

        public ConcurrentQueue<Item> Left { get; } = new();

        public ConcurrentQueue<string> Told { get; } = new();

        public IReadOnlyList<Item> PutAway => [.. _putAway];

        public bool IsAway
        {
            get => _isAway;
            set => _isAway = value;
        }

        public int PutAwayFailures
        {
            set => _putAwayFailures = value;
        }

        public int Looks => Volatile.Read(ref _looks);

        public int AwayLooks => Volatile.Read(ref _awayLooks);

        public void Add(params ReadOnlySpan<string> rows)
        {
            foreach (var row in rows)
                _rows.Enqueue(row);
        }

        public IReadOnlyList<Item> TakeOver() => Left.TryDequeue(out var left) ? [left] : [];

        public IReadOnlyList<string> Look()
        {
            if (IsAway)
            {
                Interlocked.Increment(ref _awayLooks);
                throw new AwayException();
            }

            Interlocked.Increment(ref _looks);
            return [.. _rows];
        }

        public Item? Claim() => _rows.TryDequeue(out var row) ? new Item(Guid.NewGuid(), row) : null;

        public void Put(Item item)
        {
            if (Interlocked.Decrement(ref _putAwayFailures) >= 0)
                throw new AwayException();
            _putAway.Enqueue(item);
        }
    }

    private sealed class HandOver(IMessageIntake intake) : PolledHandOver<Item>(intake)
    {
        protected override EsbMessage Envelope(Item item) =>
            EsbMessage.Create(MessageBody.Empty, TimeProvider.System) with
            {
                Id = item.MessageId,
            };

        protected override Task<MessageBody> ReadAsync(Item item, CancellationToken cancellationToken) =>
            Task.FromResult(MessageBody.FromText(item.Text));
    }

    private sealed class Desk(Source source, HandOver handOver, Admission admission) : PollingDesk<Item>(admission, TimeProvider.System)
    {
        protected override Task<Task> HandOverAsync(Item item, CancellationToken cancellationToken) =>
            handOver.HandOverAsync(item, cancellationToken);

        protected override ValueTask PutAwayAsync(Item item)
        {
            source.Put(item);
            return ValueTask.CompletedTask;
        }

        protected override bool IsGone(Exception failure) => false;

        protected override bool MayPass(Exception failure) => failure is AwayException;

        protected override bool MayPassLater(Exception failure) => failure is AwayException;

        protected override void OnWaiting(Item item, Exception cause) => source.Told.Enqueue("waiting");

        protected override void OnRefused(Item item, EsbException cause) => source.Told.Enqueue("refused");

        protected override PolledRefusal OnFailed(Item item, Exception cause) =>
            throw new AssertionException("Nothing unforeseen happens here.", cause);

        protected override void OnNotPutAway(Item item, Exception cause) => source.Told.Enqueue("not put away");

        protected override void OnGone(Item item, Exception cause) => source.Told.Enqueue("gone");

        protected override void OnLeft(int count) => source.Told.Enqueue("left");
    }

    private sealed class Rows(Source source, Desk desk, Admission admission) : PollingEndpoint<string, Item>(desk, admission)
    {
        private static readonly TimeSpan Often = TimeSpan.FromMilliseconds(10);

        protected override TimeSpan Interval => Often;

        protected override TimeSpan ShortInterval => Often;

        protected override ValueTask<IReadOnlyList<Item>> OpenAsync(CancellationToken cancellationToken) =>
            ValueTask.FromResult(source.TakeOver());

        protected override ValueTask<PolledLook<string>> LookAsync(CancellationToken cancellationToken) =>
            ValueTask.FromResult(new PolledLook<string>(source.Look(), HasMore: false));

        protected override ValueTask<Item?> ClaimAsync(string found, CancellationToken cancellationToken) =>
            ValueTask.FromResult(source.Claim());

        protected override bool IsAway(Exception failure) => failure is AwayException;

        protected override TimeSpan OnAway(Exception cause, bool isFirst)
        {
            if (isFirst)
                source.Told.Enqueue("away");
            return Often;
        }

        protected override void OnBack() => source.Told.Enqueue("back");

        protected override Task WaitAsync(NextLook next, CancellationToken cancellationToken) =>
            Task.Delay(next.Pause, TimeProvider.System, cancellationToken);
    }
}
