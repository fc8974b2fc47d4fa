using Esb.Configuration.Revisions;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Host.Telemetry;

namespace Esb.Host.Logging;

/// <summary>Applies the log level and the log files of the active revision.</summary>
internal sealed class LogExchange(LogLevels levels, EndpointLogs logs) : IRevisionPart
{
    public Task PrepareAsync(Revision next, ConfigErrors errors, CancellationToken cancellationToken)
    {
        EndpointLogs.CheckFolder(next.Services.GetRequiredService<TelemetryConfig>(), errors);
        return Task.CompletedTask;
    }

    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        var telemetry = next.Services.GetRequiredService<TelemetryConfig>();
        levels.Reconfigure(telemetry.LogLevel);
        logs.Move(LogPlace.Of(telemetry, next.Services.GetRequiredService<IReadOnlyDictionary<string, EndpointConfig>>().Keys));
        return Task.CompletedTask;
    }
}
