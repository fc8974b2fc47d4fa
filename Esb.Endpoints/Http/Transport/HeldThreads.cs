using Esb.Core.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Transport;

/// <summary>Logs, at intervals, when a socket held its <see cref="PollingThread"/> for longer than
/// <see cref="HoldWatch.Limit"/>, and when one does so without an end. Thread-safe.</summary>
internal sealed partial class HeldThreads : IDisposable
{
    // A thread that one socket holds at two checks in a row is logged.
    private static readonly TimeSpan BetweenLooks = TimeSpan.FromSeconds(5);

    private readonly ILogger<HeldThreads> _logger;
    private readonly LogPace _heldPace;
    private readonly LogPace _stuckPace;
    private readonly ITimer _looks;
    private readonly long[] _seen = new long[PollingThread.Count];

    public HeldThreads(TimeProvider time, ILogger<HeldThreads> logger)
    {
        (_logger, _heldPace, _stuckPace) = (logger, new LogPace(time), new LogPace(time, TimeSpan.FromMinutes(1)));
        PollingThread.Held += Tell;
        _looks = time.CreateTimer(_ => Look(), state: null, BetweenLooks, BetweenLooks);
    }

    public void Dispose()
    {
        PollingThread.Held -= Tell;
        _looks.Dispose();
    }

    private void Tell(int thread, TimeSpan held, PolledSocket socket)
    {
        if (_heldPace.Next() is { } silent)
            LogHeld(thread, (long)held.TotalMilliseconds, socket.Addresses, silent);
    }

    private void Look()
    {
        for (var thread = 0; thread < _seen.Length; thread++)
        {
            var since = PollingThread.HeldSince(thread);
            if (since != 0 && since == _seen[thread] && _stuckPace.Next() is not null)
                LogStuck(thread, BetweenLooks.TotalSeconds);
            _seen[thread] = since;
        }
    }

    [LoggerMessage(
        EventId = 2183,
        Level = LogLevel.Warning,
        Message = "Socket thread {Thread} was held for {Milliseconds} ms by the connection {Addresses}, while its other ones waited; "
            + "{Silent} more since the last warning"
    )]
    private partial void LogHeld(int thread, long milliseconds, string addresses, long silent);

    [LoggerMessage(
        EventId = 2184,
        Level = LogLevel.Error,
        Message = "Socket thread {Thread} has been held for more than {Seconds} s by one connection, and its others wait"
    )]
    private partial void LogStuck(int thread, double seconds);
}
