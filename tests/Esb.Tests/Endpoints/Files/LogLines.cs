using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Endpoints.Files;

/// <summary>Keeps what is logged at Warning and above. Thread-safe.</summary>
internal sealed class LogLines : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<string> _warnings = new();

    public IReadOnlyList<string> Warnings => [.. _warnings];

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    )
    {
        if (IsEnabled(logLevel))
            _warnings.Enqueue(formatter(state, exception));
    }

    public void Dispose()
    {
        // Nothing to let go.
    }
}
