using Esb.Core.Endpoints;

namespace Esb.Delivery.Outages;

/// <summary>The pass that the gate grants.</summary>
internal enum GatePass
{
    /// <summary>No pass.</summary>
    Closed,

    /// <summary>The gate is open.</summary>
    Open,

    /// <summary>A probe of the external system. It must report with <see cref="OutageGate.Reached"/>, <see cref="OutageGate.Missed"/>,
    /// <see cref="OutageGate.Unanswered"/> or <see cref="OutageGate.Abandon"/>.</summary>
    Probe,
}

/// <summary>Holds deliveries back while the external system is unreachable. One delivery at a time passes as a probe, after a delay that
/// doubles from 1 s to the longest one; the first reply of the external system opens the gate.</summary>
/// <remarks>
/// The gate closes at the first attempt that cannot reach the external system, or after so many consecutive attempts, of more than one
/// message, that were unanswered or rejected (<see cref="UnansweredRun"/>). Any other answer resets the count and opens the gate.
/// Thread-safe (pattern: Circuit Breaker).
/// </remarks>
internal sealed class OutageGate(CircuitBreakerConfig config, TimeProvider time)
{
    private static readonly TimeSpan FirstDelay = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly UnansweredRun _run = new(config.Failures);
    private volatile string? _reason;
    private TaskCompletionSource _wake = NewWake();
    private long _closedAt;
    private TimeSpan _delay;
    private bool _probing;

    /// <summary>The reason why the gate is closed; null while it is open.</summary>
    public string? Reason => _reason;

    /// <summary>True if the gate is closed and a run of attempts shows that no single message is the cause.</summary>
    public bool IsOutageShown
    {
        get
        {
            lock (_lock)
                return _reason is not null && _run.ShowsOutage;
        }
    }

    /// <summary>Waits until the external system may be tried.</summary>
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
                if (isProbe)
                    _probing = true;
            }

            if (!isProbe)
                await wake.WaitAsync(cancellationToken);
            else if (await WaitForTurnAsync(wake, cancellationToken))
                return GatePass.Probe;
        }

        return GatePass.Open;
    }

    /// <summary>Passes without waiting if the gate is open or a probe is due.</summary>
    public GatePass TryEnter()
    {
        if (_reason is null)
            return GatePass.Open;
        lock (_lock)
        {
            if (_reason is null)
                return GatePass.Open;
            if (_probing || Remaining > TimeSpan.Zero)
                return GatePass.Closed;
            _probing = true;
            return GatePass.Probe;
        }
    }

    /// <summary>Reports that the external system replied. Returns true if this opened the gate.</summary>
    public bool Reached()
    {
        if (_reason is null && _run.IsEmpty)
            return false;
        lock (_lock)
        {
            _run.Clear();
            if (_reason is null)
                return false;
            _reason = null;
            Wake();
            return true;
        }
    }

    /// <summary>Reports that the external system was unreachable. Returns true if this closed the gate.</summary>
    public bool Missed(string reason, GatePass pass)
    {
        lock (_lock)
            return Close(reason, pass, asked: null);
    }

    /// <summary>Reports that the external system gave no reply of its own. Returns true if this closed the gate.</summary>
    /// <param name="messageId">The message that was tried.</param>
    /// <param name="reason">The failure.</param>
    /// <param name="asked">The pause that the external system requests; null if it requests none.</param>
    /// <param name="pass">The pass of the message.</param>
    public bool Unanswered(Guid messageId, string reason, TimeSpan? asked, GatePass pass)
    {
        lock (_lock)
        {
            _run.Add(messageId);
            return (pass == GatePass.Probe || _run.ShowsOutage) && Close(reason, pass, asked);
        }
    }

    /// <summary>Closes the gate for the pause that the external system requests. Returns true if the gate was open.</summary>
    public bool Pause(string reason, TimeSpan quiet)
    {
        lock (_lock)
        {
            var closes = _reason is null;
            (_reason, _delay, _closedAt) = (reason, quiet, time.GetTimestamp());
            return closes;
        }
    }

    /// <summary>Gives up a probe that made no attempt: another delivery becomes the probe.</summary>
    public void Abandon()
    {
        lock (_lock)
            Wake();
    }

    private TimeSpan Remaining => _delay - time.GetElapsedTime(_closedAt);

    private bool Close(string reason, GatePass pass, TimeSpan? asked)
    {
        var closes = _reason is null;
        if (closes)
            _delay = FirstDelay;
        else if (pass == GatePass.Probe)
            _delay = _delay * 2 < config.Probe ? _delay * 2 : config.Probe;
        if (asked > _delay)
            _delay = asked.Value;
        if (closes || pass == GatePass.Probe)
            _closedAt = time.GetTimestamp();
        _reason = reason;
        if (pass == GatePass.Probe)
            Wake();
        return closes;
    }

    // Returns false if the gate opened meanwhile.
    private async Task<bool> WaitForTurnAsync(Task wake, CancellationToken cancellationToken)
    {
        try
        {
            while (true)
            {
                TimeSpan remaining;
                lock (_lock)
                    remaining = Remaining;
                if (remaining <= TimeSpan.Zero)
                    return true;
                if (await IsOverWithinAsync(wake, remaining, cancellationToken))
                    return false;
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

    // Every waiting delivery checks again: the gate is open, or one delivery becomes the next probe.
    private void Wake()
    {
        _probing = false;
        _wake.TrySetResult();
        _wake = NewWake();
    }

    private static TaskCompletionSource NewWake() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
