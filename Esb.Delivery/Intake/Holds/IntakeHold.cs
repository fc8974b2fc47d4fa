using Esb.Core.Endpoints;
using Esb.Core.Errors;

namespace Esb.Delivery.Intake.Holds;

/// <summary>What keeps one inbound endpoint from taking messages in although it runs: an operator's pause, or its schedule.
/// Thread-safe.</summary>
public sealed class IntakeHold(string endpoint, TimeProvider time)
{
    private static readonly TimeSpan RetryAfterPause = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestWait = TimeSpan.FromMinutes(1); // then the clock of the host, which may be set, is asked again

    private TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile OpeningHours? _hours;
    private volatile bool _isPaused;
    private int _waiting;

    /// <summary>How many wait until it is open.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>Whether an operator paused it.</summary>
    public bool IsPaused => _isPaused;

    /// <summary>Whether messages may be taken in.</summary>
    public bool IsOpen => !_isPaused && OpensAt is null;

    /// <summary>The next time at which its schedule opens it; null while it does, or has none.</summary>
    public DateTimeOffset? OpensAt => _hours?.OpensAt(time.GetUtcNow());

    /// <summary>Pauses it, or lets it go on. What was let in before finishes.</summary>
    public void Pause(bool isPaused)
    {
        _isPaused = isPaused;
        Tell();
    }

    /// <summary>Keeps it to the schedule of a configuration, or to none.</summary>
    public void Keep(InboundEndpointConfig config)
    {
        _hours = config.Schedule is { } schedule ? new OpeningHours(schedule) : null;
        Tell();
    }

    /// <summary>Turns callers away while it is not open.</summary>
    /// <exception cref="EsbException"><c>ESB-ENDPOINT-PAUSED</c> or <c>ESB-ENDPOINT-CLOSED</c>, with when to come back.</exception>
    public void Enter()
    {
        if (_isPaused)
            throw new EsbException("ESB-ENDPOINT-PAUSED", $"The endpoint '{endpoint}' was paused by an operator.", FaultKind.Unavailable) { RetryAfter = RetryAfterPause };
        if (OpensAt is { } opens)
            throw new EsbException("ESB-ENDPOINT-CLOSED", $"The endpoint '{endpoint}' is closed by its schedule.", FaultKind.Unavailable) { RetryAfter = opens - time.GetUtcNow() };
    }

    /// <summary>Waits until it is open.</summary>
    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        if (IsOpen) return;
        Interlocked.Increment(ref _waiting);
        try
        {
            while (true)
            {
                var changed = Volatile.Read(ref _changed).Task; // before the look: a change after it is not missed
                if (IsOpen) return;
                await WaitForChangeAsync(changed, cancellationToken);
            }
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
        }
    }

    /// <summary>The status of the endpoint with what holds it.</summary>
    public EndpointStatus Show(EndpointStatus status) => status.State is not (EndpointState.Running or EndpointState.Standby or EndpointState.Starting) ? status
        : _isPaused ? status with { State = EndpointState.PausedByOperator }
        : status.State == EndpointState.Running && OpensAt is { } opens ? status with { State = EndpointState.Paused, Reason = $"closed by its schedule until {opens:yyyy-MM-dd HH:mm zzz}" }
        : status;

    private async Task WaitForChangeAsync(Task changed, CancellationToken cancellationToken)
    {
        var wait = !_isPaused && OpensAt - time.GetUtcNow() is { } left && left < LongestWait ? left : LongestWait;
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await Task.WhenAny(changed, Task.Delay(wait > TimeSpan.Zero ? wait : TimeSpan.Zero, time, ended.Token));
        await ended.CancelAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    private void Tell() => Interlocked.Exchange(ref _changed, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).TrySetResult();
}
