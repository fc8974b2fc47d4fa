using Esb.Core.Replays;

namespace Esb.Delivery.Replay;

/// <summary>Sizes the batches: a small one first, then each twice as large as the last while no letters come back. Not
/// thread-safe.</summary>
internal sealed class ReplayBatches(ReplayRequest request)
{
    private readonly int _largest = request.BatchSize ?? int.MaxValue;
    private int _size = Math.Min(request.FirstBatch, request.BatchSize ?? int.MaxValue);
    private int _sent;

    /// <summary>The number of letters that may be sent before the next pause.</summary>
    public int Left => request.BatchSize is null ? int.MaxValue : _size - _sent;

    public void CountSent(int letters) => _sent += letters;

    /// <summary>Starts the next batch.</summary>
    public void Begin(bool cameBack)
    {
        _sent = 0;
        if (!cameBack)
            _size = (int)Math.Min(2L * _size, _largest);
    }
}
