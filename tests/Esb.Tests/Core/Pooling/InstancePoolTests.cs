using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Pooling;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Pooling;

[CancelAfter(30_000)]
public sealed class InstancePoolTests
{
    private static readonly TimeSpan PoolTimeout = TimeSpan.FromSeconds(60);

    private ManualTime _time = null!;
    private RecordingLogger _log = null!;
    private ConcurrentQueue<Instance> _made = null!;

    [SetUp]
    public void Forget() => (_time, _log, _made) = (new(), new(), new());

    [Test]
    public async Task An_instance_is_made_only_when_none_is_free(CancellationToken cancellationToken)
    {
        await using var pool = Pool(10);

        for (var call = 0; call < 5; call++)
        {
            using var lease = await pool.RentAsync(cancellationToken);
        }

        Assert.That(_made, Has.Count.EqualTo(1));
        Assert.That(pool.Status, Is.EqualTo(new PoolStatus(Maximum: 10, Created: 1, InUse: 0, Waiting: 0, Waits: 0) { Peak = 1 }));
    }

    [Test]
    public async Task Two_at_once_have_an_instance_each_and_the_last_returned_is_rented_first(CancellationToken cancellationToken)
    {
        await using var pool = Pool(10);
        var first = await pool.RentAsync(cancellationToken);
        var second = await pool.RentAsync(cancellationToken);
        var last = second.Instance;

        first.Dispose();
        second.Dispose();
        using var third = await pool.RentAsync(cancellationToken);

        Assert.That(_made, Has.Count.EqualTo(2));
        Assert.That(third.Instance, Is.SameAs(last));
    }

    [Test]
    public async Task A_hundred_callers_never_use_more_than_the_maximum_nor_one_instance_twice(CancellationToken cancellationToken)
    {
        await using var pool = Pool(8);

        await Task.WhenAll(Enumerable.Range(0, 100).Select(_ => Task.Run(UseAsync, cancellationToken)));

        Assert.That(_made, Has.Count.InRange(1, 8));
        Assert.That(_made.Select(instance => instance.MostUsers), Is.All.EqualTo(1));
        Assert.That(pool.Status, Has.Property("InUse").EqualTo(0).And.Property("Waiting").EqualTo(0).And.Property("Waits").GreaterThan(0));

        async Task UseAsync()
        {
            for (var call = 0; call < 50; call++)
            {
                using var lease = await pool.RentAsync(cancellationToken);
                await lease.Instance.UseAsync();
            }
        }
    }

    [Test]
    public async Task Callers_that_wait_are_served_in_turn(CancellationToken cancellationToken)
    {
        await using var pool = Pool(1);
        var lease = await pool.RentAsync(cancellationToken);
        var waiting = Enumerable.Range(0, 5).Select(_ => pool.RentAsync(cancellationToken).AsTask()).ToList();

        foreach (var next in waiting)
        {
            lease.Dispose();
            lease = await next;
            Assert.That(waiting.Count(task => !task.IsCompleted), Is.EqualTo(waiting.Count - 1 - waiting.IndexOf(next)));
        }
    }

    [Test]
    public async Task Who_waits_in_vain_is_told_so_and_forgotten(CancellationToken cancellationToken)
    {
        await using var pool = Pool(1);
        using var lease = await pool.RentAsync(cancellationToken);
        var waiting = pool.RentAsync(cancellationToken).AsTask();

        _time.Advance(PoolTimeout);

        var error = Assert.ThrowsAsync<PoolTimeoutException>(() => waiting);
        Assert.That((error!.Code, error.Kind), Is.EqualTo(("ESB-POOL-TIMEOUT", FaultKind.Unavailable)));
        Assert.That(error.Message, Is.EqualTo("No instance of orders-db became free within 60 s; all 1 are in use."));
        Assert.That(pool.Status.Waiting, Is.Zero);
    }

    [Test]
    public async Task Who_does_not_wait_is_told_at_once(CancellationToken cancellationToken)
    {
        await using var pool = Pool(1);
        using var lease = await pool.RentAsync(cancellationToken);

        Assert.ThrowsAsync<PoolTimeoutException>(() => pool.RentAsync(TimeSpan.Zero, cancellationToken).AsTask());
        Assert.That(pool.Status.Waiting, Is.Zero);
    }

    [Test]
    public async Task An_instance_is_not_given_to_a_caller_that_has_gone(CancellationToken cancellationToken)
    {
        await using var pool = Pool(1);
        using var gone = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var lease = await pool.RentAsync(cancellationToken);
        var cancelled = pool.RentAsync(gone.Token).AsTask();
        var next = pool.RentAsync(cancellationToken).AsTask();

        await gone.CancelAsync();
        lease.Dispose();

        var error = Assert.CatchAsync<OperationCanceledException>(() => cancelled);
        Assert.That(error!.CancellationToken, Is.EqualTo(gone.Token), "cancelled, not timed out");
        using var served = await next;
        Assert.That(_made, Has.Count.EqualTo(1));
    }

    [Test]
    public async Task An_instance_that_comes_as_its_caller_goes_is_lost_to_nobody(CancellationToken cancellationToken)
    {
        await using var pool = Pool(1);
        var (served, gone) = (0, 0);

        for (var round = 0; round < 2_000; round++)
        {
            using var going = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            var lease = await pool.RentAsync(cancellationToken);
            var waiting = pool.RentAsync(going.Token).AsTask();
            using var both = new Barrier(2);
            await Task.WhenAll(
                Task.Run(() => Together(both, round % 32 * 16, going.Cancel), cancellationToken),
                Task.Run(() => Together(both, 0, lease.Dispose), cancellationToken)
            );
            try
            {
                (await waiting).Dispose();
                served++;
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                gone++;
            }

            Assert.That((pool.Status.InUse, pool.Status.Waiting, pool.Status.Created), Is.EqualTo((0, 0, 1)), $"round {round}");
        }

        TestContext.Out.WriteLine($"{served} served, {gone} gone");

        void Together(Barrier both, int spins, Action act)
        {
            both.SignalAndWait(cancellationToken);
            Thread.SpinWait(spins);
            act();
        }
    }

    [Test]
    public async Task That_callers_wait_is_said_once_in_ten_seconds(CancellationToken cancellationToken)
    {
        await using var pool = Pool(1);
        using var lease = await pool.RentAsync(cancellationToken);

        _ = Enumerable.Range(0, 3).Select(_ => pool.RentAsync(cancellationToken).AsTask()).ToList();
        _time.Advance(TimeSpan.FromSeconds(9));
        _ = pool.RentAsync(cancellationToken).AsTask();
        Assert.That(_log.Lines, Is.EqualTo(["Warning waiting for a free instance of orders-db: all 1 are in use"]));

        _time.Advance(TimeSpan.FromSeconds(1));
        _ = pool.RentAsync(cancellationToken).AsTask();
        Assert.That(_log.Lines, Has.Count.EqualTo(2));
    }

    [Test]
    public async Task A_raised_maximum_serves_those_that_wait_at_once(CancellationToken cancellationToken)
    {
        await using var pool = Pool(1);
        using var lease = await pool.RentAsync(cancellationToken);
        var waiting = Enumerable.Range(0, 3).Select(_ => pool.RentAsync(cancellationToken).AsTask()).ToList();

        pool.Resize(3);

        await Task.WhenAll(waiting.Take(2));
        Assert.That(waiting[2].IsCompleted, Is.False);
        Assert.That(pool.Status, Is.EqualTo(new PoolStatus(Maximum: 3, Created: 3, InUse: 3, Waiting: 1, Waits: 3) { Peak = 3 }));
    }

    [Test]
    public async Task Above_a_lowered_maximum_instances_go_as_they_come_back(CancellationToken cancellationToken)
    {
        await using var pool = Pool(3);
        var leases = new[]
        {
            await pool.RentAsync(cancellationToken),
            await pool.RentAsync(cancellationToken),
            await pool.RentAsync(cancellationToken),
        };
        leases[0].Dispose();

        pool.Resize(1);
        Assert.That(_made.Count(instance => instance.IsDisposed), Is.EqualTo(1), "the idle one at once");
        leases[1].Dispose();
        leases[2].Dispose();

        Assert.That(_made.Count(instance => instance.IsDisposed), Is.EqualTo(2));
        Assert.That(pool.Status, Is.EqualTo(new PoolStatus(Maximum: 1, Created: 1, InUse: 0, Waiting: 0, Waits: 0) { Peak = 3 }));
    }

    [Test]
    public async Task A_place_is_free_again_when_no_instance_could_be_made(CancellationToken cancellationToken)
    {
        var fails = true;
        await using var pool = Pool(1, () => fails ? throw new InvalidOperationException("no server") : new Instance());

        Assert.That(
            async () => await pool.RentAsync(cancellationToken),
            Throws.InvalidOperationException.With.Message.EqualTo("no server")
        );
        fails = false;
        using var lease = await pool.RentAsync(cancellationToken);

        Assert.That(pool.Status.Created, Is.EqualTo(1));
    }

    [Test]
    public async Task Who_waits_is_told_when_a_raised_maximum_cannot_be_used(CancellationToken cancellationToken)
    {
        var fails = false;
        await using var pool = Pool(1, () => fails ? throw new InvalidOperationException("no server") : new Instance());
        using var lease = await pool.RentAsync(cancellationToken);
        var waiting = pool.RentAsync(cancellationToken).AsTask();
        fails = true;

        pool.Resize(2);

        Assert.That(async () => await waiting, Throws.InvalidOperationException.With.Message.EqualTo("no server"));
        Assert.That((pool.Status.Created, pool.Status.Waiting), Is.EqualTo((1, 0)));
    }

    [Test]
    public async Task A_closed_pool_disposes_idle_instances_now_and_rented_ones_when_they_return(CancellationToken cancellationToken)
    {
        var pool = Pool(2);
        var (idle, rented) = (await pool.RentAsync(cancellationToken), await pool.RentAsync(cancellationToken));
        var (first, second) = (idle.Instance, rented.Instance);
        idle.Dispose();

        await pool.DisposeAsync();
        Assert.That((first.IsDisposed, second.IsDisposed), Is.EqualTo((true, false)));

        rented.Dispose();
        Assert.That(second.IsDisposed, Is.True);
        Assert.That(async () => await pool.RentAsync(cancellationToken), Throws.TypeOf<ObjectDisposedException>());
    }

    [Test]
    public async Task Who_waits_is_told_at_once_when_the_pool_closes(CancellationToken cancellationToken)
    {
        var pool = Pool(1);
        using var lease = await pool.RentAsync(cancellationToken);
        var waiting = pool.RentAsync(cancellationToken).AsTask();

        await pool.DisposeAsync();

        Assert.That(async () => await waiting, Throws.TypeOf<ObjectDisposedException>());
    }

    [Test]
    public async Task A_lease_gives_back_once(CancellationToken cancellationToken)
    {
        await using var pool = Pool(2);
        using var other = await pool.RentAsync(cancellationToken);
        var lease = await pool.RentAsync(cancellationToken);

        lease.Dispose();
        lease.Dispose();

        Assert.That(pool.Status.InUse, Is.EqualTo(1));
    }

    private InstancePool<Instance> Pool(int maximum, Func<Instance>? create = null) =>
        new("orders-db", create ?? Make, new PoolLimits(maximum, PoolTimeout), _time, _log);

    private Instance Make()
    {
        var instance = new Instance();
        _made.Enqueue(instance);
        return instance;
    }

    private sealed class Instance : IDisposable
    {
        private int _users;

        public bool IsDisposed { get; private set; }

        public int MostUsers { get; private set; }

        public async Task UseAsync()
        {
            MostUsers = Math.Max(MostUsers, Interlocked.Increment(ref _users));
            await Task.Yield();
            Interlocked.Decrement(ref _users);
        }

        public void Dispose() => IsDisposed = true;
    }

    private sealed class RecordingLogger : ILogger
    {
        private readonly ConcurrentQueue<string> _lines = new();

        public IReadOnlyCollection<string> Lines => _lines;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        ) => _lines.Enqueue($"{logLevel} {formatter(state, exception)}");
    }
}
