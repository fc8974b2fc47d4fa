using System.Threading.Channels;

namespace Esb.Delivery.Replay;

/// <summary>Wakes the replay runner of this host when a job is created or changed here. Thread-safe.</summary>
internal sealed class ReplaySignal
{
    private readonly Channel<bool> _raised = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite }
    );

    public void Raise() => _raised.Writer.TryWrite(true);

    /// <summary>Waits until the signal is raised, or for a maximum time.</summary>
    public async Task WaitAsync(TimeSpan limit, TimeProvider time, CancellationToken cancellationToken)
    {
        using var late = new CancellationTokenSource(limit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        try
        {
            await _raised.Reader.ReadAsync(either.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // No signal on this host; another host may have a job.
        }
    }
}
