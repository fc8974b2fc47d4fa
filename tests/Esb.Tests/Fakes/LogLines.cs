using Microsoft.Extensions.Logging;

namespace Esb.Tests.Fakes;

/// <summary>Keeps what is logged. Thread-safe.</summary>
internal sealed class LogLines : ILoggerProvider
{
    private readonly List<(string Category, LogLevel Level, string Text)> _lines = [];

    public IReadOnlyList<(string Category, LogLevel Level, string Text)> All
    {
        get
        {
            lock (_lines)
                return [.. _lines];
        }
    }

    /// <summary>Whether nothing is asked for any more, as where somebody measures.</summary>
    public bool IsOff { get; set; }

    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName);

    public void Dispose() { }

    private sealed class Logger(LogLines lines, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => !lines.IsOff || logLevel > LogLevel.Information;

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        )
        {
            lock (lines._lines)
                lines._lines.Add((category, logLevel, $"{formatter(state, exception)} {exception}"));
        }
    }
}
