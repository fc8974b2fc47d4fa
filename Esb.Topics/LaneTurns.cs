using System.Runtime.ExceptionServices;

namespace Esb.Topics;

/// <summary>Works on some deliveries of a lane at once: those of one turn one after the other, in the order in which they were begun, and
/// those without a turn beside all others.</summary>
/// <remarks>Work is begun by one caller at a time, and ends on any thread. What is behind work that failed in its turn does not
/// begin.</remarks>
/// <param name="most">The maximum number of deliveries that were begun and have not ended; 1 for a lane in strict order.</param>
internal sealed class LaneTurns(int most)
{
    private readonly SemaphoreSlim _places = new(most);
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Task> _last = [];
    private Exception? _failure;

    /// <summary>Waits for a free place, and begins the work behind all that was begun before it in the same turn.</summary>
    /// <param name="turn">The turn; null if the work waits for no other.</param>
    /// <param name="work">The work; a failure ends its turn.</param>
    /// <param name="cancellationToken">Cancels the wait for a place; the work is not begun then.</param>
    public async Task BeginAsync(string? turn, Func<Task> work, CancellationToken cancellationToken)
    {
        await _places.WaitAsync(cancellationToken);
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _ = RunAsync(turn, Queue(turn, ended.Task), work, ended);
    }

    /// <summary>Waits until all work that was begun has ended. Nothing is begun after it.</summary>
    /// <exception cref="Exception">The first failure that was no cancellation.</exception>
    public async Task EndedAsync()
    {
        for (var place = 0; place < most; place++)
            await _places.WaitAsync();
        if (_failure is { } failure)
            ExceptionDispatchInfo.Throw(failure);
    }

    private async Task RunAsync(string? turn, Task before, Func<Task> work, TaskCompletionSource ended)
    {
        try
        {
            await before;
            await work();
            ended.SetResult();
        }
        catch (Exception ex)
        {
            if (ex is not OperationCanceledException)
                Interlocked.CompareExchange(ref _failure, ex, null);
            ended.SetCanceled(); // observed only by the next work of the turn
        }
        finally
        {
            Leave(turn, ended.Task);
            _places.Release();
        }
    }

    // Returns what it has to wait for.
    private Task Queue(string? turn, Task ended)
    {
        if (turn is null)
            return Task.CompletedTask;
        lock (_gate)
        {
            var before = _last.GetValueOrDefault(turn, Task.CompletedTask);
            _last[turn] = ended;
            return before;
        }
    }

    private void Leave(string? turn, Task ended)
    {
        if (turn is null)
            return;
        lock (_gate)
        {
            // What failed keeps its turn, so that nothing behind it begins. The next work may have ended, and left, already.
            if (ended.IsCompletedSuccessfully && _last.TryGetValue(turn, out var last) && last == ended)
                _last.Remove(turn);
        }
    }
}
