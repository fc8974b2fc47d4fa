using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Outside;

/// <summary>The connections of relays to one external system. The most recently used one is reused first, so that surplus connections age
/// and are closed. Thread-safe.</summary>
/// <remarks>The pool of relays limits their number. One timer checks all of them for silence and age.</remarks>
internal sealed class OutsideConnections(OutsideConnector connector, HttpTargetingConfig config, TimeProvider time) : IDisposable
{
    // The maximum delay at which a time-out is detected.
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(50);

    private readonly Lock _gate = new();
    private readonly Stack<OutsideConnection> _idle = new();
    private readonly HashSet<OutsideConnection> _all = [];
    private ITimer? _timer;

    /// <summary>The number of open connections.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
                return _all.Count;
        }
    }

    /// <summary>Returns a connection that can be written to and is already reading.</summary>
    /// <param name="isNew">True to require a connection that has carried nothing before.</param>
    /// <param name="patience">The maximum time to connect, if less than the endpoint's own.</param>
    /// <param name="cancellationToken">Cancels connecting.</param>
    /// <exception cref="OutsideException">The external system is unreachable.</exception>
    public async ValueTask<OutsideConnection> RentAsync(bool isNew, TimeSpan patience, CancellationToken cancellationToken)
    {
        while (!isNew && TakeIdle() is { } idle)
        {
            if (await idle.BeginAsync((int)config.RelayBufferSize.Bytes))
                return idle;
            Discard(idle);
        }

        var connection = await connector.ConnectAsync(patience, cancellationToken);
        Add(connection);
        if (await connection.BeginAsync((int)config.RelayBufferSize.Bytes))
            return connection;
        Discard(connection);
        throw new OutsideException("The connection was closed as soon as it was open.");
    }

    /// <summary>Takes a connection back after a completed exchange.</summary>
    public void Return(OutsideConnection connection)
    {
        if (!config.KeepAlive || !connection.End())
        {
            Discard(connection);
            return;
        }

        connection.IsReused = true;
        connection.IdleSince = time.GetTimestamp();
        lock (_gate)
            _idle.Push(connection);
    }

    /// <summary>Closes a connection that cannot be reused.</summary>
    public void Discard(OutsideConnection connection)
    {
        connection.Dispose();
        lock (_gate)
        {
            _all.Remove(connection);
            if (_all.Count == 0)
                _timer?.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _timer?.Dispose();
            foreach (var connection in _all)
                connection.Abort();
        }
    }

    private void Add(OutsideConnection connection)
    {
        lock (_gate)
        {
            _timer ??= time.CreateTimer(
                static connections => ((OutsideConnections)connections!).Look(),
                this,
                Timeout.InfiniteTimeSpan,
                Timeout.InfiniteTimeSpan
            );
            if (_all.Count == 0)
                _timer.Change(Tick, Tick);
            _all.Add(connection);
        }
    }

    private OutsideConnection? TakeIdle()
    {
        while (true)
        {
            OutsideConnection? idle;
            lock (_gate)
            {
                if (!_idle.TryPop(out idle))
                    return null;
            }

            if (!IsOld(idle))
                return idle;
            Discard(idle);
        }
    }

    private void Look()
    {
        lock (_gate)
        {
            var now = time.GetTimestamp();
            foreach (var connection in _all)
            {
                if (connection.Silence.Elapses(now))
                    connection.Abort();
            }

            if (!_idle.Any(IsOld))
                return;
            var ages = _idle.Reverse().ToLookup(IsOld); // evaluated once: time passes
            _idle.Clear();
            foreach (var fresh in ages[false])
                _idle.Push(fresh);
            foreach (var old in ages[true])
                Discard(old);
        }
    }

    private bool IsOld(OutsideConnection connection) =>
        time.GetElapsedTime(connection.IdleSince) > config.IdleTimeout
        || time.GetElapsedTime(connection.BornAt) > config.ConnectionLifetime;
}
