using Microsoft.Extensions.Logging.Console;

namespace Esb.Host.Logging;

internal static class LoggingRegistration
{
    /// <summary>Logs to the console, from the given level on; libraries only warnings, unless everything is asked for.</summary>
    public static IServiceCollection AddEsbLogging(this IServiceCollection services, LogLevel level) => services.AddLogging(logging =>
    {
        // A filter takes the place of the minimum level, so it has to know both.
        logging.AddFilter((category, entry) => entry >= level && (IsOurs(category) || level == LogLevel.Trace || entry >= LogLevel.Warning));
        // Says of a web server that did not start what whoever starts it gets as an exception, and reports in one line.
        logging.AddFilter("Microsoft.Extensions.Hosting", LogLevel.None);
        logging.AddConsole(console => console.FormatterName = EsbConsoleFormatter.FormatterName);
        logging.AddConsoleFormatter<EsbConsoleFormatter, EsbConsoleFormatterOptions>(format =>
        {
            format.Colored = !Console.IsOutputRedirected && Environment.GetEnvironmentVariable("NO_COLOR") is null or "";
            format.ShowsStacks = level <= LogLevel.Debug;
        });
    });

    private static bool IsOurs(string? category) => category?.StartsWith("Esb.", StringComparison.Ordinal) == true;
}
