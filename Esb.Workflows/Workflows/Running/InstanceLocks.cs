namespace Esb.Workflows.Workflows.Running;

/// <summary>Lets one piece of work at a time run on an instance in this host. Only for speed: the version decides. Thread-safe.</summary>
internal sealed class InstanceLocks
{
    private readonly Dictionary<Guid, Held> _held = [];

    public async Task<IDisposable> EnterAsync(Guid instance, CancellationToken cancellationToken)
    {
        Held held;
        lock (_held)
        {
            if (!_held.TryGetValue(instance, out held!))
                _held[instance] = held = new Held();
            held.Users++;
        }

        try
        {
            await held.Gate.WaitAsync(cancellationToken);
            return new Entered(this, instance, held);
        }
        catch
        {
            Leave(instance, held);
            throw;
        }
    }

    private void Leave(Guid instance, Held held)
    {
        lock (_held)
        {
            if (--held.Users == 0)
                _held.Remove(instance);
        }
    }

    private sealed class Held
    {
        public SemaphoreSlim Gate { get; } = new(1, 1);

        public int Users { get; set; }
    }

    private sealed class Entered(InstanceLocks locks, Guid instance, Held held) : IDisposable
    {
        public void Dispose()
        {
            held.Gate.Release();
            locks.Leave(instance, held);
        }
    }
}
