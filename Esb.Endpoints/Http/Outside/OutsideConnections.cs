using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Outside;

/// <summary>The connections of relays to one outside: the one used last is used first, so that those not needed grow old and are closed. Thread-safe.</summary>
/// <remarks>How many there may be is up to the pool of relays. One timer looks after all of them: at who has been silent, and at which are too old.</remarks>
internal sealed class OutsideConnections(OutsideConnector connector, HttpOutboundConfig config, TimeProvider time) : IDisposable
{
    // A time-out is noticed so much later at most.
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(50);

    private readonly Lock _gate = new();
    private readonly Stack<OutsideConnection> _idle = new();
    private readonly HashSet<OutsideConnection> _all = [];
    private ITimer? _timer;

    /// <summary>Connections that are open.</summary>
    public int Count
    {
        get
        {
            lock (_gate) return _all.Count;
        }
    }

    /// <summary>A connection that can be written to, its reading begun.</summary>
    /// <param name="isNew">Whether it must be one that has carried nothing before.</param>
    /// <param name="patience">How long a new one may take, where that is less than the endpoint gives it.</param>
    /// <param name="cancellationToken">Ends connecting.</param>
    /// <exception cref="OutsideException">The outside cannot be reached.</exception>
    public async ValueTask<OutsideConnection> RentAsync(bool isNew, TimeSpan patience, CancellationToken cancellationToken)
    {
        while (!isNew && TakeIdle() is { } idle)
        {
            if (await idle.BeginAsync((int)config.BufferSize.Bytes)) return idle;
            Discard(idle);
        }

        var connection = await connector.ConnectAsync(patience, cancellationToken);
        Add(connection);
        if (await connection.BeginAsync((int)config.BufferSize.Bytes)) return connection;
        Discard(connection);
        throw new OutsideException("The connection was closed as soon as it was open.");
    }

    /// <summary>Takes a connection back after an exchange that came to its end.</summary>
    public void Return(OutsideConnection connection)
    {
        if (!config.KeepAlive || !connection.End())
        {
            Discard(connection);
            return;
        }

        connection.IsReused = true;
        connection.IdleSince = time.GetTimestamp();
        lock (_gate) _idle.Push(connection);
    }

    /// <summary>Closes a connection that cannot be used again.</summary>
    public void Discard(OutsideConnection connection)
    {
        connection.Dispose();
        lock (_gate)
        {
            _all.Remove(connection);
            if (_all.Count == 0) _timer?.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _timer?.Dispose();
            foreach (var connection in _all) connection.Abort();
        }
    }

    private void Add(OutsideConnection connection)
    {
        lock (_gate)
        {
            _timer ??= time.CreateTimer(static connections => ((OutsideConnections)connections!).Look(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            if (_all.Count == 0) _timer.Change(Tick, Tick);
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
                if (!_idle.TryPop(out idle)) return null;
            }

            if (!IsOld(idle)) return idle;
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
                if (connection.Silence.Elapses(now)) connection.Abort();
            }

            if (!_idle.Any(IsOld)) return;
            var ages = _idle.Reverse().ToLookup(IsOld); // asked once: the time goes on
            _idle.Clear();
            foreach (var fresh in ages[false]) _idle.Push(fresh);
            foreach (var old in ages[true]) Discard(old);
        }
    }

    private bool IsOld(OutsideConnection connection) =>
        time.GetElapsedTime(connection.IdleSince) > config.IdleTimeout || time.GetElapsedTime(connection.BornAt) > config.ConnectionLifetime;
}
