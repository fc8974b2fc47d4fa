using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps.Taps;

/// <summary>The in-flight copies of one step. Thread-safe.</summary>
internal sealed partial class WireTap(
    string step,
    WireTapConfig settings,
    IOutgoingPublisher publisher,
    TimeProvider time,
    ILogger<WireTap> logger
)
{
    private readonly LogPace _pace = new(time);
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _isDraining;
    private int _pending;
    private long _lost;

    /// <summary>Sends a copy, unless too many are in flight; returns before it has arrived.</summary>
    public void Send(OutgoingMessage copy)
    {
        if (Interlocked.Increment(ref _pending) <= settings.MaximumPending)
        {
            _ = SendAsync(copy);
            return;
        }

        Lose("ESB-TAP-FULL", exception: null);
        End();
    }

    /// <summary>Waits for the copies in flight.</summary>
    public Task DrainAsync(CancellationToken cancellationToken)
    {
        _isDraining = true;
        return Volatile.Read(ref _pending) == 0 ? Task.CompletedTask : _drained.Task.WaitAsync(cancellationToken);
    }

    private async Task SendAsync(OutgoingMessage copy)
    {
        try
        {
            await publisher.PublishAsync(copy, CancellationToken.None);
        }
        catch (Exception ex)
        {
            Lose((ex as EsbException)?.Code ?? "ESB-TAP-FAILED", ex);
        }
        finally
        {
            End();
        }
    }

    private void End()
    {
        if (Interlocked.Decrement(ref _pending) == 0 && _isDraining)
            _drained.TrySetResult();
    }

    /// <summary>Counts and logs a copy that could not be created or sent.</summary>
    public void Lose(string code, Exception? exception)
    {
        WorkflowsTelemetry.CountLostCopy(step, code);
        var lost = Interlocked.Increment(ref _lost);
        if (_pace.Next() is not null)
            LogLost(step, settings.Subject, code, lost, exception);
    }

    [LoggerMessage(
        EventId = 3101,
        Level = LogLevel.Warning,
        Message = "The wire tap {Step} could not copy a message to {Subject} ({Code}); {Lost} copies were lost since the start"
    )]
    private partial void LogLost(string step, Subject subject, string code, long lost, Exception? exception);
}
