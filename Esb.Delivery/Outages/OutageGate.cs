namespace Esb.Delivery.Outages;

/// <summary>How somebody passes the gate.</summary>
internal enum GatePass
{
    /// <summary>Not at all.</summary>
    Closed,

    /// <summary>With all the others.</summary>
    Open,

    /// <summary>As the one that finds out whether the outside is back; it must report with <see cref="OutageGate.Reached"/>, <see cref="OutageGate.Missed"/>, <see cref="OutageGate.Unanswered"/> or <see cref="OutageGate.Abandon"/>.</summary>
    Probe,
}

/// <summary>Holds deliveries back while the outside is away. One of them at a time goes through as a probe, after a delay that doubles from 1 s to 30 s; the first answer of the outside lets all go on.</summary>
/// <remarks>
/// Its window: it closes at the first attempt that could not reach the outside, or after ten in a row, of more than one message, that got no answer, or were turned away
/// (<see cref="UnansweredRun"/>). Any other answer begins the count anew, and opens it.
/// Thread-safe (pattern: Circuit Breaker).
/// </remarks>
internal sealed class OutageGate(TimeProvider time)
{
    private static readonly TimeSpan FirstDelay = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LastDelay = TimeSpan.FromSeconds(30);

    private readonly Lock _lock = new();
    private readonly UnansweredRun _run = new();
    private volatile string? _reason;
    private TaskCompletionSource _wake = NewWake();
    private long _closedAt;
    private TimeSpan _delay;
    private bool _probing;

    /// <summary>Why it is closed; null while it is open.</summary>
    public string? Reason => _reason;

    /// <summary>Whether it is closed, and a run of attempts shows that this says nothing about any one message.</summary>
    public bool IsOutageShown
    {
        get
        {
            lock (_lock) return _reason is not null && _run.ShowsOutage;
        }
    }

    /// <summary>Waits until the outside may be tried.</summary>
    public async ValueTask<GatePass> EnterAsync(CancellationToken cancellationToken)
    {
        while (_reason is not null)
        {
            Task wake;
            bool isProbe;
            lock (_lock)
            {
                wake = _wake.Task;
                isProbe = !_probing && _reason is not null;
                if (isProbe) _probing = true;
            }

            if (!isProbe) await wake.WaitAsync(cancellationToken);
            else if (await WaitForTurnAsync(wake, cancellationToken)) return GatePass.Probe;
        }

        return GatePass.Open;
    }

    /// <summary>For those who do not wait: passes where the gate is open, or a probe is due.</summary>
    public GatePass TryEnter()
    {
        if (_reason is null) return GatePass.Open;
        lock (_lock)
        {
            if (_reason is null) return GatePass.Open;
            if (_probing || Remaining > TimeSpan.Zero) return GatePass.Closed;
            _probing = true;
            return GatePass.Probe;
        }
    }

    /// <summary>The outside answered. Returns whether that opened the gate.</summary>
    public bool Reached()
    {
        if (_reason is null && _run.IsEmpty) return false;
        lock (_lock)
        {
            _run.Clear();
            if (_reason is null) return false;
            _reason = null;
            Wake();
            return true;
        }
    }

    /// <summary>The outside could not be reached. Returns whether that closed the gate.</summary>
    public bool Missed(string reason, GatePass pass)
    {
        lock (_lock) return Close(reason, pass, asked: null);
    }

    /// <summary>The outside gave no answer of its own. Returns whether that closed the gate.</summary>
    /// <param name="messageId">The message that was tried.</param>
    /// <param name="reason">What happened.</param>
    /// <param name="asked">How long it asks to be left in peace; null where it does not.</param>
    /// <param name="pass">How the message passed the gate.</param>
    public bool Unanswered(Guid messageId, string reason, TimeSpan? asked, GatePass pass)
    {
        lock (_lock)
        {
            _run.Add(messageId);
            return (pass == GatePass.Probe || _run.ShowsOutage) && Close(reason, pass, asked);
        }
    }

    /// <summary>The outside asks for some quiet. Returns whether that closed the gate.</summary>
    public bool Pause(string reason, TimeSpan quiet)
    {
        lock (_lock)
        {
            var closes = _reason is null;
            (_reason, _delay, _closedAt) = (reason, quiet, time.GetTimestamp());
            return closes;
        }
    }

    /// <summary>The probe went away without having tried: another delivery takes its turn.</summary>
    public void Abandon()
    {
        lock (_lock) Wake();
    }

    private TimeSpan Remaining => _delay - time.GetElapsedTime(_closedAt);

    private bool Close(string reason, GatePass pass, TimeSpan? asked)
    {
        var closes = _reason is null;
        if (closes) _delay = FirstDelay;
        else if (pass == GatePass.Probe) _delay = _delay * 2 < LastDelay ? _delay * 2 : LastDelay;
        if (asked > _delay) _delay = asked.Value;
        if (closes || pass == GatePass.Probe) _closedAt = time.GetTimestamp();
        _reason = reason;
        if (pass == GatePass.Probe) Wake();
        return closes;
    }

    // False where the gate opened meanwhile.
    private async Task<bool> WaitForTurnAsync(Task wake, CancellationToken cancellationToken)
    {
        try
        {
            while (true)
            {
                TimeSpan remaining;
                lock (_lock) remaining = Remaining;
                if (remaining <= TimeSpan.Zero) return true;
                if (await IsOverWithinAsync(wake, remaining, cancellationToken)) return false;
            }
        }
        catch (OperationCanceledException)
        {
            Abandon();
            throw;
        }
    }

    private async Task<bool> IsOverWithinAsync(Task wake, TimeSpan limit, CancellationToken cancellationToken)
    {
        try
        {
            await wake.WaitAsync(limit, time, cancellationToken);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    // Everybody who waits looks again: the gate is open, or one of them becomes the next probe.
    private void Wake()
    {
        _probing = false;
        _wake.TrySetResult();
        _wake = NewWake();
    }

    private static TaskCompletionSource NewWake() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
