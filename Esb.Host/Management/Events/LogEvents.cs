using System.Globalization;
using Esb.Host.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Host.Management.Events;

/// <summary>Keeps the newest lines of the log for the management API, and publishes them while somebody reads the log.
/// Thread-safe.</summary>
/// <remarks>Bounded by a number of lines and by the length of each. Secrets are masked as in the log itself.</remarks>
internal sealed class LogEvents(EventStream stream, TimeProvider time) : ILoggerProvider
{
    /// <summary>The most lines that are kept.</summary>
    public const int MaxKept = 1_000;

    private const int MaxLength = 4_000;

    private readonly Lock _gate = new();
    private readonly Queue<LogLine> _lines = new();
    private long _number;

    /// <summary>The newest lines after a number, oldest first.</summary>
    public IReadOnlyList<LogLine> Read(long after, LogLevel least, int limit)
    {
        lock (_gate)
            return [.. _lines.Where(line => line.Number > after && line.Level >= least).TakeLast(limit)];
    }

    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName);

    public void Dispose() { }

    private void Write<TState>(in LogEntry<TState> entry)
    {
        using var text = new StringWriter(CultureInfo.InvariantCulture);
        LogText.WriteMessage(entry, showsStacks: false, text);
        var message = text.ToString();
        if (message.Length > MaxLength)
            message = message[..MaxLength] + "…";
        LogLine line;
        lock (_gate)
        {
            line = new LogLine(++_number, time.GetUtcNow(), entry.LogLevel, LogCategory.Shorten(entry.Category), entry.EventId.Id, message);
            _lines.Enqueue(line);
            if (_lines.Count > MaxKept)
                _lines.Dequeue();
        }

        if (stream.IsWanted(BusEventKind.Log))
            stream.Publish(BusEventKind.Log, line);
    }

    private sealed class Logger(LogEvents events, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None; // the filters have been applied

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        ) => events.Write(new LogEntry<TState>(logLevel, category, eventId, state, exception, formatter));
    }
}

/// <summary>A line of the log in API responses.</summary>
/// <param name="Number">Its number in the run of the host.</param>
/// <param name="Time">Its time.</param>
/// <param name="Level">Its level.</param>
/// <param name="Category">The project or library.</param>
/// <param name="Event">The number of the event.</param>
/// <param name="Message">The text, with secrets masked.</param>
internal sealed record LogLine(long Number, DateTimeOffset Time, LogLevel Level, string Category, int Event, string Message);
