using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;

namespace Esb.Host.Logging;

internal static class LoggingRegistration
{
    /// <summary>Logs to the console, from the given level on until an operator changes it; libraries only warnings, unless everything is asked for.</summary>
    public static IServiceCollection AddEsbLogging(this IServiceCollection services, LogLevel level) => services
        .AddSingleton(provider => new LogLevels(level, provider.GetService<TimeProvider>() ?? TimeProvider.System))
        .AddSingleton<IConfigureOptions<LoggerFilterOptions>>(provider => provider.GetRequiredService<LogLevels>())
        .AddSingleton<IOptionsChangeTokenSource<LoggerFilterOptions>>(provider => provider.GetRequiredService<LogLevels>())
        .AddLogging(logging =>
        {
            // Says of a web server that did not start what whoever starts it gets as an exception, and reports in one line.
            logging.AddFilter("Microsoft.Extensions.Hosting", LogLevel.None);
            logging.AddConsole(console => console.FormatterName = EsbConsoleFormatter.FormatterName);
            logging.AddConsoleFormatter<EsbConsoleFormatter, EsbConsoleFormatterOptions>(format =>
            {
                format.Colored = !Console.IsOutputRedirected && Environment.GetEnvironmentVariable("NO_COLOR") is null or "";
                format.ShowsStacks = level <= LogLevel.Debug;
            });
        });
}
