using System.Threading.Channels;

namespace Esb.Host.Management.Events;

/// <summary>A reader of the event stream. One task reads; the stream offers.</summary>
/// <param name="kinds">The kinds that it wants.</param>
/// <param name="run">The run of the host.</param>
/// <param name="begin">The number of the newest event when it began.</param>
/// <param name="isReset">True if it missed events that are not kept, and has to ask for the state anew.</param>
/// <param name="isResumed">True if it continues where it was.</param>
internal sealed class EventReader(IReadOnlySet<BusEventKind> kinds, string run, long begin, bool isReset, bool isResumed)
{
    /// <summary>The most events that it may be behind; then it is closed.</summary>
    public const int MaxBehind = 1_000;

    // Bounded by MaxBehind for what is offered, by EventStream.MaxKept for what was missed.
    private readonly CancellationTokenSource _tooSlow = new();
    private readonly Channel<BusEvent> _events = Channel.CreateUnbounded<BusEvent>(new UnboundedChannelOptions { SingleReader = true });
    private int _behind;

    /// <summary>The id of the greeting.</summary>
    public string BeginId => $"{run}-{begin}";

    public bool IsReset => isReset;

    /// <summary>True if it continues where it was.</summary>
    public bool IsResumed => isResumed;

    /// <summary>True if it was closed because it read too slowly.</summary>
    public bool IsTooSlow { get; private set; }

    /// <summary>Cancelled when it is closed because it read too slowly.</summary>
    public CancellationToken TooSlow => _tooSlow.Token;

    public string IdOf(BusEvent read) => $"{run}-{read.Number}";

    public bool Wants(BusEventKind kind) => kinds.Contains(kind);

    /// <summary>Adds an event from before it began.</summary>
    public void Missed(BusEvent kept)
    {
        if (Wants(kept.Kind))
            _events.Writer.TryWrite(kept);
    }

    public void Offer(BusEvent added)
    {
        if (IsTooSlow || !Wants(added.Kind))
            return;
        if (Interlocked.Increment(ref _behind) <= MaxBehind)
        {
            _events.Writer.TryWrite(added);
            return;
        }

        IsTooSlow = true;
        _events.Writer.TryComplete();
        _tooSlow.Cancel();
    }

    /// <summary>Waits for the next event; false once the reader was closed.</summary>
    public ValueTask<bool> WaitAsync(CancellationToken cancellationToken) => _events.Reader.WaitToReadAsync(cancellationToken);

    public bool TryRead([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out BusEvent? read)
    {
        if (!_events.Reader.TryRead(out read))
            return false;
        if (read.Number > begin)
            Interlocked.Decrement(ref _behind);
        return true;
    }
}
