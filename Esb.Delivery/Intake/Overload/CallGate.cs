using Esb.Core.Errors;

namespace Esb.Delivery.Intake.Overload;

/// <summary>Lets so many calls in at once; as many more wait for a short time, and everybody else is turned away. Thread-safe.</summary>
public sealed class CallGate(int maximum, TimeProvider time)
{
    public static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(5);

    private readonly SemaphoreSlim _places = new(maximum);
    private int _waiting;

    /// <summary>Calls that wait for a place.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>Takes a place; <see cref="Leave"/> gives it back.</summary>
    /// <exception cref="EsbException"><c>ESB-OVERLOAD</c>: none became free.</exception>
    public ValueTask EnterAsync(CancellationToken cancellationToken) => _places.Wait(0, CancellationToken.None) ? ValueTask.CompletedTask : WaitShortlyAsync(cancellationToken);

    /// <summary>Takes a place as soon as there is one; <see cref="Leave"/> gives it back.</summary>
    public Task WaitAsync(CancellationToken cancellationToken) => _places.WaitAsync(cancellationToken);

    public void Leave() => _places.Release();

    /// <summary>Waits until every call has left. Nobody can enter any more.</summary>
    public async Task DrainAsync(CancellationToken cancellationToken)
    {
        for (var taken = 0; taken < maximum; taken++) await _places.WaitAsync(cancellationToken);
    }

    private async ValueTask WaitShortlyAsync(CancellationToken cancellationToken)
    {
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
        new("ESB-OVERLOAD", "The endpoint has all the calls that it can work on; try again later.", FaultKind.Unavailable) { RetryAfter = TimeSpan.FromSeconds(1) };
}
