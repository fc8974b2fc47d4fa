using Esb.Core.Errors;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Limits concurrent calls: the same number again may wait for a short time; further calls are rejected. Thread-safe.</summary>
public sealed class CallGate(int maximum, TimeProvider time)
{
    public static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(5);

    private readonly SemaphoreSlim _places = new(maximum);
    private int _waiting;
    private volatile bool _isClosed;

    /// <summary>The number of calls that wait for a slot.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>Acquires a slot; <see cref="Leave"/> releases it.</summary>
    /// <exception cref="EsbException"><c>ESB-OVERLOAD</c>: no slot became free.</exception>
    public ValueTask EnterAsync(CancellationToken cancellationToken) =>
        _places.Wait(0, CancellationToken.None) ? ValueTask.CompletedTask : WaitShortlyAsync(cancellationToken);

    /// <summary>Acquires a slot once one is free; <see cref="Leave"/> releases it.</summary>
    public Task WaitAsync(CancellationToken cancellationToken) => _places.WaitAsync(cancellationToken);

    public void Leave() => _places.Release();

    /// <summary>Waits until every call has left. No further call can enter: it is rejected at once.</summary>
    public async Task DrainAsync(CancellationToken cancellationToken)
    {
        _isClosed = true;
        for (var taken = 0; taken < maximum; taken++)
            await _places.WaitAsync(cancellationToken);
    }

    private async ValueTask WaitShortlyAsync(CancellationToken cancellationToken)
    {
        if (_isClosed)
            throw Overload();
        if (Interlocked.Increment(ref _waiting) > maximum)
        {
            Interlocked.Decrement(ref _waiting);
            throw Overload();
        }

        using var patience = new CancellationTokenSource(LongestWait, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        try
        {
            await _places.WaitAsync(either.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw Overload();
        }
        finally
        {
            Interlocked.Decrement(ref _waiting);
        }
    }

    private static EsbException Overload() =>
        new("ESB-OVERLOAD", "The endpoint has all the calls that it can work on; try again later.", FaultKind.Unavailable)
        {
            RetryAfter = TimeSpan.FromSeconds(1),
        };
}
