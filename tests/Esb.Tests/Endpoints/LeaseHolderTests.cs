using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Endpoints.SingleInstance;
using Esb.Storage.Files;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Endpoints;

/// <summary>Several holders of one lease, as on several hosts of one farm.</summary>
[CancelAfter(60_000)]
public sealed class LeaseHolderTests
{
    private readonly SwitchedStore _store = new();
    private readonly ConcurrentDictionary<string, long> _working = [];

    [Test]
    public async Task One_of_three_works_and_another_takes_over_at_once_when_it_stops(CancellationToken cancellationToken)
    {
        await using var first = Start("first");
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
        await using var second = Start("second");
        await using var third = Start("third");
        await Task.Delay(500, cancellationToken);
        Assert.That(_working.Keys, Is.EqualTo(new[] { "first" }));

        await first.DisposeAsync();

        await UntilAsync(() => _working.Count == 1 && !_working.ContainsKey("first"), cancellationToken);
        Assert.That(_working.Values.Single(), Is.GreaterThan(1), "the token grows with the owner");
    }

    [Test, Property("Case", "T-LEA-3")]
    public async Task Holder_that_cannot_renew_ends_its_work_before_the_lease_runs_out(CancellationToken cancellationToken)
    {
        await using var holder = Start("first");
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
        var began = TimeProvider.System.GetTimestamp();

        _store.IsAway = true;
        await UntilAsync(() => !_working.ContainsKey("first"), cancellationToken);

        Assert.That(TimeProvider.System.GetElapsedTime(began), Is.LessThan(LeaseHolder.TimeToLive + TimeSpan.FromSeconds(1)));
        Assert.That(holder.IsHeld, Is.False);
        _store.IsAway = false;
        await UntilAsync(() => _working.ContainsKey("first"), cancellationToken);
    }

    [Test]
    public async Task Work_that_fails_is_tried_again_after_a_pause(CancellationToken cancellationToken)
    {
        var tries = 0;
        await using var holder = new LeaseHolder("endpoint", "first", _store, (_, _) => { tries++; throw new InvalidOperationException("no folder"); }, TimeProvider.System, NullLogger<LeaseHolder>.Instance);
        holder.Start();

        await UntilAsync(() => tries == 2, cancellationToken);

        Assert.That(tries, Is.EqualTo(2));
    }

    private LeaseHolder Start(string owner)
    {
        var holder = new LeaseHolder("endpoint", owner, _store, (lease, lost) => WorkAsync(owner, lease, lost), TimeProvider.System, NullLogger<LeaseHolder>.Instance);
        holder.Start();
        return holder;
    }

    private async Task WorkAsync(string owner, Lease lease, CancellationToken lost)
    {
        _working[owner] = lease.Token;
        await Task.Delay(Timeout.Infinite, lost).ContinueWith(_ => { }, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        _working.TryRemove(owner, out _);
    }

    private static async Task UntilAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition()) await Task.Delay(20, cancellationToken);
    }

    private sealed class SwitchedStore : ILeaseStore
    {
        private readonly FileLeaseStore _store = new(TimeProvider.System);

        public bool IsAway { get; set; }

        public Task<Lease?> AcquireAsync(string name, string owner, TimeSpan timeToLive, CancellationToken cancellationToken) => Reached().AcquireAsync(name, owner, timeToLive, cancellationToken);

        public Task<bool> RenewAsync(Lease lease, TimeSpan timeToLive, CancellationToken cancellationToken) => Reached().RenewAsync(lease, timeToLive, cancellationToken);

        public Task ReleaseAsync(Lease lease, CancellationToken cancellationToken) => Reached().ReleaseAsync(lease, cancellationToken);

        private FileLeaseStore Reached() => IsAway ? throw new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable) : _store;
    }
}
