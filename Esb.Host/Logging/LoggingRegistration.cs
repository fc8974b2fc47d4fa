using Esb.Configuration;
using Esb.Configuration.Revisions;
using Esb.Core.Endpoints;
using Esb.Host.Telemetry;
using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;

namespace Esb.Host.Logging;

internal static class LoggingRegistration
{
    /// <summary>Registers logging as configured.</summary>
    public static IServiceCollection AddEsbLogging(
        this IServiceCollection services,
        TelemetryConfig telemetry,
        IEnumerable<string> endpointNames
    )
    {
        var (place, showsStacks) = (LogPlace.Of(telemetry, endpointNames), ShowsStacks(telemetry.LogLevel));
        return services
            .AddEsbLogging(telemetry.LogLevel)
            .Configure<EsbConsoleFormatterOptions>(format => format.Json = telemetry.LogFormat == LogFormat.Json)
            .AddSingleton(provider => new EndpointLogs(place, showsStacks, provider.GetRequiredService<TimeProvider>(), Console.Error))
            .AddSingleton<ILoggerProvider>(provider => provider.GetRequiredService<EndpointLogs>())
            .AddSingleton<IRevisionPart, LogExchange>();
    }

    /// <summary>Registers logging to the console from the given level on, until an operator changes it. Libraries log warnings only, unless
    /// the level is <c>trace</c>.</summary>
    public static IServiceCollection AddEsbLogging(this IServiceCollection services, LogLevel level) =>
        services
            .AddSingleton(provider => new LogLevels(level, provider.GetService<TimeProvider>() ?? TimeProvider.System))
            .AddSingleton<IConfigureOptions<LoggerFilterOptions>>(provider => provider.GetRequiredService<LogLevels>())
            .AddSingleton<IOptionsChangeTokenSource<LoggerFilterOptions>>(provider => provider.GetRequiredService<LogLevels>())
            .AddSingleton<LoggerFactory>()
            .AddSingleton<ILoggerFactory>(provider => new KeptCategories(provider.GetRequiredService<LoggerFactory>()))
            .AddLogging(logging =>
            {
                // Suppresses the log of a failed web server start: its caller receives the exception and reports it in one line.
                logging.AddFilter("Microsoft.Extensions.Hosting", LogLevel.None);
                logging.AddConsole(console => console.FormatterName = EsbConsoleFormatter.FormatterName);
                logging.AddConsoleFormatter<EsbConsoleFormatter, EsbConsoleFormatterOptions>(format =>
                {
                    format.Colored = !Console.IsOutputRedirected && Environment.GetEnvironmentVariable("NO_COLOR") is null or "";
                    format.ShowsStacks = ShowsStacks(level);
                    format.Journal =
                        Environment.GetEnvironmentVariable("JOURNAL_STREAM") is { } stream
                        && JournalLines.IsTarget(new Dictionary<string, string> { ["JOURNAL_STREAM"] = stream }, descriptor: 1);
                });
            });

    private static bool ShowsStacks(LogLevel level) => level <= LogLevel.Debug;
}
