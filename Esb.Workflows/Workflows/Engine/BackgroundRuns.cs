using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Workflows;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Instances that go on while those who started them are answered. Thread-safe.</summary>
/// <remarks>An instance that is stopped in the middle goes on by the timer of its lease, here or on another host.</remarks>
internal sealed partial class BackgroundRuns(ILogger<BackgroundRuns> logger) : IDisposable
{
    private readonly ConcurrentDictionary<Task, bool> _running = new();
    private readonly CancellationTokenSource _stopping = new();

    /// <summary>Cancelled when the bus stops.</summary>
    public CancellationToken Stopping => _stopping.Token;

    /// <summary>Begins to run an instance.</summary>
    /// <param name="run">Runs it; calls its argument after the first checkpoint.</param>
    /// <returns>The outcome of the first checkpoint.</returns>
    /// <exception cref="EsbException">There was none.</exception>
    public Task<CommitOutcome> BeginAsync(Func<Action, Task<CommitOutcome>> run)
    {
        var first = new TaskCompletionSource<CommitOutcome>(TaskCreationOptions.RunContinuationsAsynchronously);
        var running = Task.Run(() => RunAsync(run, first));
        _running[running] = true;
        _ = running.ContinueWith(ended => _running.TryRemove(ended, out _), TaskScheduler.Default);
        return first.Task;
    }

    /// <summary>Stops the runs, and waits for their end.</summary>
    public async Task StopAsync()
    {
        await _stopping.CancelAsync();
        await Task.WhenAll(_running.Keys);
    }

    public void Dispose() => _stopping.Dispose();

    private async Task RunAsync(Func<Action, Task<CommitOutcome>> run, TaskCompletionSource<CommitOutcome> first)
    {
        try
        {
            first.TrySetResult(await run(() => first.TrySetResult(CommitOutcome.Committed)));
        }
        catch (Exception ex)
        {
            var failure =
                ex is OperationCanceledException ? new EsbException("ESB-WFL-STOPPING", "The host stops.", FaultKind.Unavailable, ex) : ex;
            if (!first.TrySetException(failure) && ex is not OperationCanceledException)
                LogInterrupted(ex);
        }
    }

    [LoggerMessage(
        EventId = 3014,
        Level = LogLevel.Warning,
        Message = "An instance was interrupted after a checkpoint; it continues from there"
    )]
    private partial void LogInterrupted(Exception exception);
}
