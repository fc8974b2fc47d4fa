using Esb.Core.Audit;
using Esb.Core.Errors;

namespace Esb.Tests.Fakes;

/// <summary>Lets messages begin until a test tells it otherwise.</summary>
internal sealed class ToldAuditGate : IAuditGate
{
    private TaskCompletionSource _open = Opened();
    private int _waiting;

    /// <summary>How many wait for it to open.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    public string? Obstacle { get; private set; }

    /// <summary>Null opens it.</summary>
    public void Tell(string? obstacle)
    {
        (Obstacle, var before) = (obstacle, _open);
        _open = obstacle is null ? Opened() : new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (obstacle is null)
            before.TrySetResult();
    }

    public ValueTask EnterAsync(CancellationToken cancellationToken) =>
        Obstacle is { } obstacle
            ? throw new EsbException("ESB-AUD-FULL", obstacle, FaultKind.Unavailable) { RetryAfter = TimeSpan.FromSeconds(5) }
            : ValueTask.CompletedTask;

    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _waiting);
        try
        {
            await _open.Task.WaitAsync(cancellationToken);
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
        }
    }

    private static TaskCompletionSource Opened()
    {
        var open = new TaskCompletionSource();
        open.SetResult();
        return open;
    }
}
