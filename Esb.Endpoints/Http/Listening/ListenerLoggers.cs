using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The loggers of the bus for a web server. A failed start is reported as a configuration error, not with a stack trace.</summary>
internal sealed class ListenerLoggers(ILoggerFactory loggers) : ILoggerFactory
{
    public ILogger CreateLogger(string categoryName) =>
        categoryName.StartsWith("Microsoft.Extensions.Hosting", StringComparison.Ordinal)
            ? NullLogger.Instance
            : loggers.CreateLogger(categoryName);

    public void AddProvider(ILoggerProvider provider) => loggers.AddProvider(provider);

    public void Dispose()
    {
        // the bus disposes its loggers
    }
}
