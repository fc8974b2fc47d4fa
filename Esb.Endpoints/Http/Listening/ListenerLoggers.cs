using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The loggers of the bus for a web server. A failed start is reported as a configuration error, not with a stack trace.</summary>
/// <remarks>Without scopes: the server would begin one for each request, and no output of the bus shows them.</remarks>
internal sealed class ListenerLoggers(ILoggerFactory loggers) : ILoggerFactory
{
    public ILogger CreateLogger(string categoryName) =>
        categoryName.StartsWith("Microsoft.Extensions.Hosting", StringComparison.Ordinal)
            ? NullLogger.Instance
            : new Unscoped(loggers.CreateLogger(categoryName));

    public void AddProvider(ILoggerProvider provider) => loggers.AddProvider(provider);

    public void Dispose()
    {
        // the bus disposes its loggers
    }

    private sealed class Unscoped(ILogger inner) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => inner.IsEnabled(logLevel);

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        ) => inner.Log(logLevel, eventId, state, exception, formatter);
    }
}
