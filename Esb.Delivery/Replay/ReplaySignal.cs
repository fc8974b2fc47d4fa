using System.Threading.Channels;

namespace Esb.Delivery.Replay;

/// <summary>Wakes the runner of this host when a job was made or changed here. Thread-safe.</summary>
internal sealed class ReplaySignal
{
    private readonly Channel<bool> _raised = Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });

    public void Raise() => _raised.Writer.TryWrite(true);

    /// <summary>Returns when it was raised since the last time, or after a while.</summary>
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
            // Nothing happened here; perhaps somewhere else.
        }
    }
}
