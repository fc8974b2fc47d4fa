namespace Esb.Endpoints.Http;

/// <summary>Ends an exchange when the outside has been silent for too long; it does not run while the caller is waited for, whose pace the server sees to. Used by one exchange.</summary>
internal sealed class SilenceTimeout : IDisposable
{
    private readonly TimeSpan _patience;
    private readonly ITimer _timer;
    private readonly CancellationTokenSource _source;
    private volatile bool _elapsed;

    /// <param name="patience">How long the outside may be silent.</param>
    /// <param name="time">The time.</param>
    /// <param name="aborted">Ends the exchange at once.</param>
    public SilenceTimeout(TimeSpan patience, TimeProvider time, CancellationToken aborted)
    {
        _patience = patience;
        _source = CancellationTokenSource.CreateLinkedTokenSource(aborted);
        _timer = time.CreateTimer(static state => ((SilenceTimeout)state!).Elapse(), this, patience, Timeout.InfiniteTimeSpan);
    }

    public CancellationToken Token => _source.Token;

    /// <summary>Whether it was the time that ended the exchange.</summary>
    public bool HasElapsed => _elapsed;

    /// <summary>The outside is waited for from now on.</summary>
    public void Restart() => _timer.Change(_patience, Timeout.InfiniteTimeSpan);

    /// <summary>The outside is not waited for.</summary>
    public void Pause() => _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);

    public void Dispose()
    {
        _timer.Dispose();
        _source.Dispose();
    }

    private void Elapse()
    {
        _elapsed = true;
        try
        {
            _source.Cancel();
        }
        catch (ObjectDisposedException)
        {
            // the exchange ended while the timer fired: nothing is left to be stopped
        }
    }
}
