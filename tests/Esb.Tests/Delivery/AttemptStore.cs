using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Tests.Delivery;

/// <summary>Failed attempts in memory, which outlive a controller; counts what it is asked for.</summary>
internal sealed class AttemptStore : IAttemptStore
{
    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, KeptAttempts> _kept = [];

    public bool IsAway { get; set; }

    public int Reads { get; private set; }

    public int Changes { get; private set; }

    public int Count
    {
        get
        {
            lock (_gate)
                return _kept.Count;
        }
    }

    /// <summary>What an earlier process, or another host, left.</summary>
    public KeptAttempts? this[Guid messageId]
    {
        get
        {
            lock (_gate)
                return _kept.GetValueOrDefault(messageId);
        }
        set
        {
            lock (_gate)
                _kept[messageId] = value!;
        }
    }

    public Task<KeptAttempts?> FindAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        Reads++;
        ThrowIfAway();
        return Task.FromResult(this[messageId]);
    }

    public Task KeepAsync(string endpoint, Guid messageId, KeptAttempts attempts, CancellationToken cancellationToken)
    {
        Changes++;
        ThrowIfAway();
        this[messageId] = attempts;
        return Task.CompletedTask;
    }

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        Changes++;
        ThrowIfAway();
        lock (_gate)
            _kept.Remove(messageId);
        return Task.CompletedTask;
    }

    private void ThrowIfAway()
    {
        if (IsAway)
            throw new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable);
    }
}
