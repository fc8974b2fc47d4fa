using Esb.Configuration;
using Esb.Core.Endpoints;
using Esb.Host.Telemetry;
using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;

namespace Esb.Host.Logging;

internal static class LoggingRegistration
{
    /// <summary>Logs as the configuration says.</summary>
    public static IServiceCollection AddEsbLogging(this IServiceCollection services, TelemetryConfig telemetry, IEnumerable<string> endpointNames)
    {
        services.AddEsbLogging(telemetry.LogLevel);
        if (telemetry.LogFolder is not { } folder) return services;

        var endpoints = endpointNames.ToHashSet(StringComparer.Ordinal);
        return services.AddSingleton<ILoggerProvider>(provider =>
            new EndpointLogs(folder, telemetry.LogFileSize.Bytes, endpoints, ShowsStacks(telemetry.LogLevel), provider.GetRequiredService<TimeProvider>(), Console.Error));
    }

    /// <summary>Logs to the console, from the given level on until an operator changes it; libraries only warnings, unless everything is asked for.</summary>
    public static IServiceCollection AddEsbLogging(this IServiceCollection services, LogLevel level) => services
        .AddSingleton(provider => new LogLevels(level, provider.GetService<TimeProvider>() ?? TimeProvider.System))
        .AddSingleton<IConfigureOptions<LoggerFilterOptions>>(provider => provider.GetRequiredService<LogLevels>())
        .AddSingleton<IOptionsChangeTokenSource<LoggerFilterOptions>>(provider => provider.GetRequiredService<LogLevels>())
        .AddSingleton<LoggerFactory>()
        .AddSingleton<ILoggerFactory>(provider => new KeptCategories(provider.GetRequiredService<LoggerFactory>()))
        .AddLogging(logging =>
        {
            // Says of a web server that did not start what whoever starts it gets as an exception, and reports in one line.
            logging.AddFilter("Microsoft.Extensions.Hosting", LogLevel.None);
            logging.AddConsole(console => console.FormatterName = EsbConsoleFormatter.FormatterName);
            logging.AddConsoleFormatter<EsbConsoleFormatter, EsbConsoleFormatterOptions>(format =>
            {
                format.Colored = !Console.IsOutputRedirected && Environment.GetEnvironmentVariable("NO_COLOR") is null or "";
                format.ShowsStacks = ShowsStacks(level);
            });
        });

    private static bool ShowsStacks(LogLevel level) => level <= LogLevel.Debug;
}
