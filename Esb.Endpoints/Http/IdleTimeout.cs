namespace Esb.Endpoints.Http;

/// <summary>A time-out that begins again with each sign of life, beside a token that ends things at once. Used by one exchange.</summary>
internal sealed class IdleTimeout : IDisposable
{
    private readonly TimeSpan _patience;
    private readonly ITimer _timer;
    private readonly CancellationToken _other;
    private readonly CancellationTokenSource _source;
    private volatile bool _elapsed;

    public IdleTimeout(TimeSpan patience, TimeProvider time, CancellationToken other)
    {
        (_patience, _other) = (patience, other);
        _source = CancellationTokenSource.CreateLinkedTokenSource(other);
        _timer = time.CreateTimer(static state => ((IdleTimeout)state!).Elapse(), this, patience, Timeout.InfiniteTimeSpan);
    }

    public CancellationToken Token => _source.Token;

    /// <summary>Whether it was the time that ended things.</summary>
    public bool HasElapsed => _elapsed && !_other.IsCancellationRequested;

    public void Restart() => _timer.Change(_patience, Timeout.InfiniteTimeSpan);

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
