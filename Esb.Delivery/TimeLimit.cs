namespace Esb.Delivery;

/// <summary>A token that is cancelled after a time, or with the token of a caller. One source for both, because each message takes several
/// of them. Disposed by its owner.</summary>
internal readonly struct TimeLimit : IDisposable
{
    private readonly CancellationTokenSource _source;
    private readonly CancellationTokenRegistration _registration;
    private readonly CancellationToken _caller;

    /// <param name="limit">The time.</param>
    /// <param name="time">The clock.</param>
    /// <param name="caller">The token of the caller.</param>
    public TimeLimit(TimeSpan limit, TimeProvider time, CancellationToken caller)
    {
        _caller = caller;
        _source = new CancellationTokenSource(limit, time);
        _registration = caller.UnsafeRegister(static source => ((CancellationTokenSource)source!).Cancel(), _source);
    }

    public CancellationToken Token => _source.Token;

    /// <summary>True if the time has passed, and the caller has not cancelled.</summary>
    public bool IsOver => _source.IsCancellationRequested && !_caller.IsCancellationRequested;

    public void Dispose()
    {
        _registration.Dispose();
        _source.Dispose();
    }
}
