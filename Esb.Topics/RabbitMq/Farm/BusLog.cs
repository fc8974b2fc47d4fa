using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>Writes the log of the bus library at Debug: this project logs each relevant event itself, once and in its own words.</summary>
internal sealed class BusLog(ILoggerFactory loggers) : ILoggerFactory
{
    public ILogger CreateLogger(string categoryName) => new DebugLogger(loggers.CreateLogger(categoryName));

    public void AddProvider(ILoggerProvider provider) => loggers.AddProvider(provider);

    public void Dispose()
    {
        // The factory belongs to the host.
    }

    private sealed class DebugLogger(ILogger inner) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => inner.BeginScope(state);

        public bool IsEnabled(LogLevel logLevel) => inner.IsEnabled(LogLevel.Debug);

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        ) => inner.Log(logLevel < LogLevel.Debug ? logLevel : LogLevel.Debug, eventId, state, exception, formatter);
    }
}
