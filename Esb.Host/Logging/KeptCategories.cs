namespace Esb.Host.Logging;

/// <summary>Creates loggers under the category names that operators know, including types that have moved to another project.
/// Thread-safe.</summary>
/// <param name="inner">Writes the lines; disposed by its creator.</param>
internal sealed class KeptCategories(LoggerFactory inner) : ILoggerFactory
{
    public ILogger CreateLogger(string categoryName) => inner.CreateLogger(LogCategory.Of(categoryName));

    public void AddProvider(ILoggerProvider provider) => inner.AddProvider(provider);

    public void Dispose() { }
}
