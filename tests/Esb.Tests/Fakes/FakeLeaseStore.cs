using Esb.Core.Storage;

namespace Esb.Tests.Fakes;

/// <summary>Leases in memory.</summary>
internal sealed class FakeLeaseStore(TimeProvider time) : ILeaseStore
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, Held> _held = [];
    private long _token;

    public Task<Lease?> AcquireAsync(string name, string owner, TimeSpan timeToLive, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            if (_held.TryGetValue(name, out var held) && held.Lease.Owner != owner && time.GetElapsedTime(held.Since) < held.TimeToLive)
                return Task.FromResult<Lease?>(null);
            var lease = new Lease(name, owner, ++_token);
            _held[name] = new Held(lease, time.GetTimestamp(), timeToLive);
            return Task.FromResult<Lease?>(lease);
        }
    }

    public Task<bool> RenewAsync(Lease lease, TimeSpan timeToLive, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            if (!IsHeld(lease))
                return Task.FromResult(false);
            _held[lease.Name] = new Held(lease, time.GetTimestamp(), timeToLive);
            return Task.FromResult(true);
        }
    }

    public Task ReleaseAsync(Lease lease, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            if (IsHeld(lease))
                _held.Remove(lease.Name);
        }

        return Task.CompletedTask;
    }

    private bool IsHeld(Lease lease) => _held.TryGetValue(lease.Name, out var held) && held.Lease.Token == lease.Token;

    private sealed record Held(Lease Lease, long Since, TimeSpan TimeToLive);
}
