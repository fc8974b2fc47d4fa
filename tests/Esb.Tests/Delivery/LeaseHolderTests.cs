using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Delivery.SingleInstance;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Delivery;

/// <summary>Several holders of one lease, as on several hosts of one farm, in a time that only the test moves.</summary>
[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class LeaseHolderTests
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(250);

    private readonly ManualTime _time = new();
    private readonly SwitchedStore _store;
    private readonly ConcurrentDictionary<string, HeldLease> _working = [];

    public LeaseHolderTests() => _store = new SwitchedStore(_time);

    [Test]
    public async Task One_of_three_works_and_another_takes_over_within_a_second_when_it_stops(CancellationToken cancellationToken)
    {
        await using var first = Start("first");
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
        await using var second = Start("second");
        await using var third = Start("third");
        await PassAsync(2 * LeaseHolder.TimeToLive, cancellationToken);
        Assert.That(_working.Keys, Is.EqualTo(new[] { "first" }));
        var token = _working["first"].Token;

        await first.DisposeAsync();
        var stopped = _time.GetTimestamp();
        await UntilAsync(() => _working.Count == 1, cancellationToken);

        Assert.That(_time.GetElapsedTime(stopped), Is.LessThanOrEqualTo(LeaseHolder.AskInterval + Step));
        Assert.That(_working.Values.Single().Token, Is.GreaterThan(token), "the token grows with the owner");
    }

    [Test, Property("Case", "T-LEA-1")]
    public async Task Owner_that_dies_is_replaced_a_second_after_the_end_of_its_lease_at_the_latest(CancellationToken cancellationToken)
    {
        await _store.AcquireAsync("endpoint", "dead", LeaseHolder.TimeToLive, cancellationToken);
        var died = _time.GetTimestamp();
        await using var other = Start("other");

        await UntilAsync(() => _working.ContainsKey("other"), cancellationToken);

        Assert.That(
            _time.GetElapsedTime(died),
            Is.InRange(LeaseHolder.TimeToLive, LeaseHolder.TimeToLive + LeaseHolder.AskInterval + Step)
        );
    }

    [Test, Property("Case", "T-LEA-3")]
    public async Task Holder_that_cannot_renew_ends_its_work_before_the_lease_runs_out(CancellationToken cancellationToken)
    {
        await using var holder = Start("first");
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
        var lease = _working["first"];
        var began = _time.GetTimestamp();

        _store.IsAway = true;
        await UntilAsync(() => !_working.ContainsKey("first"), cancellationToken);

        Assert.That(_time.GetElapsedTime(began), Is.LessThanOrEqualTo(LeaseHolder.TimeToLive + Step));
        Assert.That((holder.IsHeld, lease.IsHeld, holder.Trouble), Is.EqualTo((false, false, "The store cannot be reached.")));
        _store.IsAway = false;
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
        Assert.That(holder.Trouble, Is.Null);
    }

    [Test]
    public async Task Holder_whose_store_does_not_answer_asks_again_soon_enough_to_keep_the_lease(CancellationToken cancellationToken)
    {
        await using var holder = Start("first");
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
        var lease = _working["first"];

        _store.Unanswered = 1;
        await PassAsync(2 * LeaseHolder.TimeToLive, cancellationToken);

        Assert.That((_store.Unanswered, lease.IsHeld, holder.IsHeld), Is.EqualTo((0, true, true)));
    }

    // As of a connection that fell out of step, for which Npgsql has no type of its own.
    [Test]
    public async Task Failure_of_the_store_that_nobody_foresaw_is_told_and_ends_neither_the_lease_nor_the_wait_for_it(
        CancellationToken cancellationToken
    )
    {
        _store.Unforeseen = 1;
        await using var holder = Start("first");
        var trouble = holder.Trouble;
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
        var lease = _working["first"];

        _store.Unforeseen = 1;
        await PassAsync(2 * LeaseHolder.TimeToLive, cancellationToken);
        var state = (_store.Unforeseen, lease.IsHeld, holder.IsHeld, holder.Trouble);
        _store.Unforeseen = 1;
        await holder.DisposeAsync();

        Assert.That(trouble, Is.EqualTo("The store cannot be used."));
        Assert.That(state, Is.EqualTo((0, true, true, (string?)null)));
        Assert.That((_store.Unforeseen, lease.IsHeld), Is.EqualTo((0, false)), "it could not be given back, and runs out");
    }

    [Test]
    public async Task Host_that_stood_still_knows_before_any_timer_has_run_that_its_lease_is_over(CancellationToken cancellationToken)
    {
        await using var holder = Start("first");
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
        var lease = _working["first"];

        _time.Skip(LeaseHolder.TimeToLive);

        Assert.That((lease.IsHeld, lease.Lost.IsCancellationRequested, holder.IsHeld), Is.EqualTo((false, true, false)));
    }

    [Test]
    public async Task Lease_is_kept_while_what_is_under_way_finishes_after_the_word_to_stop(CancellationToken cancellationToken)
    {
        var finish = new TaskCompletionSource();
        HeldLease? lease = null;
        await using var holder = Start(
            "first",
            (held, _) =>
            {
                lease = held;
                return finish.Task;
            }
        );
        await UntilAsync(() => lease is not null, cancellationToken);

        var stopping = holder.DisposeAsync().AsTask();
        await PassAsync(3 * LeaseHolder.TimeToLive, cancellationToken);
        Assert.That((lease!.IsHeld, stopping.IsCompleted), Is.EqualTo((true, false)));
        finish.SetResult();
        await stopping;

        Assert.That(
            await _store.AcquireAsync("endpoint", "second", LeaseHolder.TimeToLive, cancellationToken),
            Is.Not.Null,
            "given back at once"
        );
    }

    [Test]
    public async Task Work_that_fails_is_tried_again_after_a_pause(CancellationToken cancellationToken)
    {
        var tries = 0;
        await using var holder = Start(
            "first",
            (_, ending) => ++tries < 2 ? throw new InvalidOperationException("no folder") : Task.Delay(Timeout.Infinite, ending)
        );
        await UntilAsync(() => tries == 1, cancellationToken);
        var failed = _time.GetTimestamp();

        await UntilAsync(() => tries == 2, cancellationToken);

        Assert.That(_time.GetElapsedTime(failed), Is.GreaterThan(LeaseHolder.AskInterval), "others go first");
    }

    private LeaseHolder Start(string owner) => Start(owner, (lease, ending) => WorkAsync(owner, lease, ending));

    private LeaseHolder Start(string owner, Func<HeldLease, CancellationToken, Task> work)
    {
        var holder = new LeaseHolder("endpoint", owner, _store, work, _time, NullLogger<LeaseHolder>.Instance);
        holder.Start();
        return holder;
    }

    private async Task WorkAsync(string owner, HeldLease lease, CancellationToken ending)
    {
        _working[owner] = lease;
        await Task.Delay(Timeout.Infinite, ending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _working.TryRemove(owner, out _);
    }

    private async Task UntilAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition())
            await StepAsync(cancellationToken);
    }

    private async Task PassAsync(TimeSpan time, CancellationToken cancellationToken)
    {
        for (var end = _time.GetUtcNow() + time; _time.GetUtcNow() < end; )
            await StepAsync(cancellationToken);
    }

    // What the last step set off has its turn before the next.
    private async Task StepAsync(CancellationToken cancellationToken)
    {
        _time.Advance(Step);
        await Task.Delay(1, cancellationToken);
    }

    private sealed class SwitchedStore(TimeProvider time) : ILeaseStore
    {
        private readonly FakeLeaseStore _store = new(time);

        public bool IsAway { get; set; }

        /// <summary>How many questions from now on get no answer.</summary>
        public int Unanswered { get; set; }

        /// <summary>How many questions from now on fail in a way of their own.</summary>
        public int Unforeseen { get; set; }

        public Task<Lease?> AcquireAsync(string name, string owner, TimeSpan timeToLive, CancellationToken cancellationToken) =>
            Reached().AcquireAsync(name, owner, timeToLive, cancellationToken);

        public Task<bool> RenewAsync(Lease lease, TimeSpan timeToLive, CancellationToken cancellationToken)
        {
            if (Unanswered == 0)
                return Reached().RenewAsync(lease, timeToLive, cancellationToken);
            Unanswered--;
            return new TaskCompletionSource<bool>().Task;
        }

        public Task ReleaseAsync(Lease lease, CancellationToken cancellationToken) => Reached().ReleaseAsync(lease, cancellationToken);

        private FakeLeaseStore Reached()
        {
            if (IsAway)
                throw new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable);
            if (Unforeseen == 0)
                return _store;
            Unforeseen--;
            throw new Exception("Received backend message ReadyForQuery while expecting BindComplete. Please file a bug.");
        }
    }
}
