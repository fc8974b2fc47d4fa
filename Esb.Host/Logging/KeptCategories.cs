namespace Esb.Host.Logging;

/// <summary>Makes loggers of the categories that operators know, also for types that have moved to another project. Thread-safe.</summary>
/// <param name="inner">Writes the lines; whoever made it lets go of it.</param>
internal sealed class KeptCategories(LoggerFactory inner) : ILoggerFactory
{
    public ILogger CreateLogger(string categoryName) => inner.CreateLogger(LogCategory.Of(categoryName));

    public void AddProvider(ILoggerProvider provider) => inner.AddProvider(provider);

    public void Dispose()
    {
    }
}
