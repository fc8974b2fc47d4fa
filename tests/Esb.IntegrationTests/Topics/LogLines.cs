using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Esb.IntegrationTests.Topics;

/// <summary>Keeps what is logged.</summary>
internal sealed class LogLines : ILogger
{
    private readonly ConcurrentQueue<string> _lines = new();

    public IReadOnlyCollection<string> All => _lines;

    public ILoggerFactory Factory => new OneLogger(this);

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    ) => _lines.Enqueue($"{logLevel}: {formatter(state, exception)}");

    private sealed class OneLogger(LogLines lines) : ILoggerFactory
    {
        public ILogger CreateLogger(string categoryName) => lines;

        public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

        public void Dispose() { }
    }
}
