using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Esb.Topics;

/// <summary>Counts messages that found no queue, and logs a warning for each subject once a minute. Thread-safe.</summary>
internal sealed partial class UnroutableMessages(TimeProvider time, ILogger logger)
{
    private const int MaxSubjects = 1_000;
    private static readonly TimeSpan Interval = TimeSpan.FromMinutes(1);

    private readonly ConcurrentDictionary<string, DateTimeOffset> _warned = new();

    /// <param name="subject">The subject of the publish.</param>
    /// <param name="subscriber">An endpoint that subscribes to the subject and should have received it; null if no endpoint does.</param>
    public void Count(string subject, string? subscriber = null)
    {
        TopicsTelemetry.CountUnroutable();
        var now = time.GetUtcNow();
        if (_warned.TryGetValue(subject, out var last) && now - last < Interval)
            return;
        if (_warned.Count >= MaxSubjects)
            _warned.Clear(); // the number of foreign subjects has no bound
        _warned[subject] = now;
        if (subscriber is null)
            LogUnroutable(subject);
        else
            LogUnbound(subject, subscriber);
    }

    [LoggerMessage(
        EventId = 1501,
        Level = LogLevel.Warning,
        Message = "No endpoint subscribes to {Subject}: its messages are kept as unroutable"
    )]
    private partial void LogUnroutable(string subject);

    [LoggerMessage(
        EventId = 1557,
        Level = LogLevel.Warning,
        Message = "Messages of {Subject} found no queue, although {Endpoint} subscribes to them: its queue was not bound. It is "
            + "bound again while it is consumed; what it missed waits among the unroutable messages"
    )]
    private partial void LogUnbound(string subject, string endpoint);
}
