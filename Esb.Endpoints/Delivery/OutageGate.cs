namespace Esb.Endpoints.Delivery;

/// <summary>Holds deliveries back while the outside is away. One of them at a time goes through as a probe, after a delay that doubles from 1 s to 30 s; the first that reaches the outside lets all go on.</summary>
/// <remarks>Thread-safe (pattern: Circuit Breaker).</remarks>
internal sealed class OutageGate(TimeProvider time)
{
    private static readonly TimeSpan FirstDelay = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LastDelay = TimeSpan.FromSeconds(30);

    private readonly Lock _lock = new();
    private TaskCompletionSource? _wake;
    private TimeSpan _delay;
    private bool _probing;

    /// <summary>Why it is closed; null while it is open.</summary>
    public string? Reason { get; private set; }

    /// <summary>Waits until the outside may be tried.</summary>
    /// <returns>Whether the caller is the probe; it must then report with <see cref="Reached"/>, <see cref="Missed"/> or <see cref="Abandon"/>.</returns>
    public async ValueTask<bool> EnterAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            Task? turn;
            TimeSpan delay;
            lock (_lock)
            {
                if (Reason is null) return false;
                turn = _probing ? _wake!.Task : null;
                delay = _delay;
                _probing = true;
            }

            if (turn is not null)
            {
                await turn.WaitAsync(cancellationToken);
                continue;
            }

            try
            {
                await Task.Delay(delay, time, cancellationToken);
                return true;
            }
            catch (OperationCanceledException)
            {
                Abandon();
                throw;
            }
        }
    }

    /// <summary>The outside answered. Returns whether that opened the gate.</summary>
    public bool Reached()
    {
        lock (_lock)
        {
            if (Reason is null) return false;
            Reason = null;
            Wake();
            return true;
        }
    }

    /// <summary>The outside could not be reached. Returns whether that closed the gate.</summary>
    public bool Missed(string reason, bool wasProbe)
    {
        lock (_lock)
        {
            var closes = Reason is null;
            Reason = reason;
            if (closes) (_delay, _wake) = (FirstDelay, NewWake());
            else if (wasProbe) _delay = _delay * 2 < LastDelay ? _delay * 2 : LastDelay;
            if (wasProbe) Wake();
            return closes;
        }
    }

    /// <summary>The probe went away without an answer: another delivery takes its turn.</summary>
    public void Abandon()
    {
        lock (_lock) Wake();
    }

    // Everybody who waits looks again: the gate is open, or one of them becomes the next probe.
    private void Wake()
    {
        _probing = false;
        _wake?.TrySetResult();
        _wake = Reason is null ? null : NewWake();
    }

    private static TaskCompletionSource NewWake() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
