using Esb.Core.Endpoints;
using Esb.Core.Errors;

namespace Esb.Delivery.Intake.Holds;

/// <summary>Stops the intake of one running inbound endpoint, because an operator paused it or its schedule closes it.
/// Thread-safe.</summary>
public sealed class IntakeHold(string endpoint, TimeProvider time)
{
    private static readonly TimeSpan RetryAfterPause = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestWait = TimeSpan.FromMinutes(1); // the host clock may be set, so it is then read again

    private TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile OpeningHours? _hours;
    private volatile bool _isPaused;
    private int _waiting;

    /// <summary>The number of callers that wait for the endpoint to open.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>True if an operator paused the endpoint.</summary>
    public bool IsPaused => _isPaused;

    /// <summary>True if messages are accepted.</summary>
    public bool IsOpen => !_isPaused && OpensAt is null;

    /// <summary>The next opening time of the schedule; null if it is open or there is no schedule.</summary>
    public DateTimeOffset? OpensAt => _hours?.OpensAt(time.GetUtcNow());

    /// <summary>Pauses or resumes the endpoint. Messages admitted before a pause finish.</summary>
    public void Pause(bool isPaused)
    {
        _isPaused = isPaused;
        Tell();
    }

    /// <summary>Applies the schedule of a configuration; null removes it.</summary>
    public void Keep(InboundEndpointConfig config)
    {
        _hours = config.Schedule is { } schedule ? new OpeningHours(schedule) : null;
        Tell();
    }

    /// <summary>Rejects callers while the endpoint is held.</summary>
    /// <exception cref="EsbException"><c>ESB-ENDPOINT-PAUSED</c> or <c>ESB-ENDPOINT-CLOSED</c>, with the time to retry after.</exception>
    public void Enter()
    {
        if (_isPaused)
            throw new EsbException("ESB-ENDPOINT-PAUSED", $"The endpoint '{endpoint}' was paused by an operator.", FaultKind.Unavailable)
            {
                RetryAfter = RetryAfterPause,
            };
        if (OpensAt is { } opens)
            throw new EsbException("ESB-ENDPOINT-CLOSED", $"The endpoint '{endpoint}' is closed by its schedule.", FaultKind.Unavailable)
            {
                RetryAfter = opens - time.GetUtcNow(),
            };
    }

    /// <summary>Waits until the endpoint is open.</summary>
    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        if (IsOpen)
            return;
        Interlocked.Increment(ref _waiting);
        try
        {
            while (true)
            {
                var changed = Volatile.Read(ref _changed).Task; // read before the check, so that no later change is missed
                if (IsOpen)
                    return;
                await WaitForChangeAsync(changed, cancellationToken);
            }
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
        }
    }

    /// <summary>The status of the endpoint, including the hold.</summary>
    public EndpointStatus Show(EndpointStatus status) =>
        status.State is not (EndpointState.Running or EndpointState.Standby or EndpointState.Starting or EndpointState.Paused) ? status
        : _isPaused ? status with { State = EndpointState.PausedByOperator, Reason = null }
        : status.State == EndpointState.Running && OpensAt is { } opens
            ? status with
            {
                State = EndpointState.Paused,
                Reason = $"closed by its schedule until {opens:yyyy-MM-dd HH:mm zzz}",
            }
        : status;

    private async Task WaitForChangeAsync(Task changed, CancellationToken cancellationToken)
    {
        var wait = !_isPaused && OpensAt - time.GetUtcNow() is { } left && left < LongestWait ? left : LongestWait;
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await Task.WhenAny(changed, Task.Delay(wait > TimeSpan.Zero ? wait : TimeSpan.Zero, time, ended.Token));
        await ended.CancelAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    private void Tell() =>
        Interlocked.Exchange(ref _changed, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).TrySetResult();
}
