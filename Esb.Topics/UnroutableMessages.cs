using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Esb.Topics;

/// <summary>Counts messages that no endpoint subscribes to, and warns of each subject once a minute. Thread-safe.</summary>
internal sealed partial class UnroutableMessages(TimeProvider time, ILogger logger)
{
    private const int MaxSubjects = 1_000;
    private static readonly TimeSpan Interval = TimeSpan.FromMinutes(1);

    private readonly ConcurrentDictionary<string, DateTimeOffset> _warned = new();

    public void Count(string subject)
    {
        TopicsTelemetry.CountUnroutable();
        var now = time.GetUtcNow();
        if (_warned.TryGetValue(subject, out var last) && now - last < Interval) return;
        if (_warned.Count >= MaxSubjects) _warned.Clear(); // subjects of foreign clients are without bound
        _warned[subject] = now;
        LogUnroutable(subject);
    }

    [LoggerMessage(EventId = 1501, Level = LogLevel.Warning, Message = "No endpoint subscribes to {Subject}: its messages reach nobody")]
    private partial void LogUnroutable(string subject);
}
