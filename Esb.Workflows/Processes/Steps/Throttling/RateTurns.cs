using Esb.Core.Errors;

namespace Esb.Workflows.Processes.Steps.Throttling;

/// <summary>Turns at a limited rate, by key (generic cell rate algorithm, ITU-T I.371). Thread-safe.</summary>
/// <param name="interval">The time from one turn to the next.</param>
/// <param name="burst">Turns that may be taken at once after a quiet time.</param>
/// <param name="timeout">The longest wait for a turn.</param>
/// <param name="time">The clock.</param>
internal sealed class RateTurns(TimeSpan interval, int burst, TimeSpan timeout, TimeProvider time)
{
    private const int KeysBetweenSweeps = 10_000;

    private readonly long _start = time.GetTimestamp();
    private readonly Lock _lock = new();
    private readonly Dictionary<string, TimeSpan> _next = []; // the time at which an evenly spaced message of the key would be due
    private int _sweepAt = KeysBetweenSweeps;

    /// <summary>Keys that are remembered: those whose rate is in use.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
                return _next.Count;
        }
    }

    /// <summary>Takes the next turn of a key, and returns how long to wait for it. A caller that does not wait leaves it unused.</summary>
    /// <exception cref="EsbException"><c>ESB-THROTTLE-TIMEOUT</c> (503): the wait would be too long; no turn is taken.</exception>
    public TimeSpan Take(string key)
    {
        lock (_lock)
        {
            var now = time.GetElapsedTime(_start);
            var due = _next.TryGetValue(key, out var next) && next > now ? next : now;
            var wait = due - ((burst - 1) * interval) - now;
            if (wait > timeout)
                throw Refused(wait);
            _next[key] = due + interval;
            if (_next.Count >= _sweepAt)
                Sweep(now);
            return wait > TimeSpan.Zero ? wait : TimeSpan.Zero;
        }
    }

    private void Sweep(TimeSpan now)
    {
        foreach (var (key, next) in _next)
        {
            if (next <= now)
                _next.Remove(key);
        }

        _sweepAt = _next.Count + KeysBetweenSweeps;
    }

    private EsbException Refused(TimeSpan wait) =>
        new(
            "ESB-THROTTLE-TIMEOUT",
            $"The message would wait {wait.TotalSeconds:0.###} s for its turn; at most {timeout.TotalSeconds:0.###} s are allowed.",
            FaultKind.Unavailable
        )
        {
            RetryAfter = wait - timeout,
        };
}
