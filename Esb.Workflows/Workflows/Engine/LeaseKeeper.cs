using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Says that this host still works on an instance, while a step of it takes long.</summary>
internal sealed class LeaseKeeper(ITimerStore timers, InstanceRun run, TimeProvider time) : IDisposable
{
    private ITimer? _timer;

    /// <summary>Begins to say so; the checkpoint before has stored the timer that another host would go on by.</summary>
    public void Begin() => _timer ??= time.CreateTimer(_ => _ = PostponeAsync(), null, InstanceRun.Lease / 3, InstanceRun.Lease / 3);

    public void Dispose() => _timer?.Dispose();

    private async Task PostponeAsync()
    {
        try
        {
            await timers.PostponeAsync(MessageIds.Derive(run.Id, "timer lease"), InstanceRun.Lease, CancellationToken.None);
        }
        catch (EsbException)
        {
            // The store is away: the version decides between this host and the one that goes on.
        }
    }
}
