using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Listening;
using Esb.Host.Composition;
using Esb.Host.Logging;
using Esb.Host.Management;
using Esb.Host.Telemetry;
using Esb.Host.Versions;

namespace Esb.Host.Lifecycle;

/// <summary>A complete host, from start to stop.</summary>
/// <param name="services">The services built from a configuration; the caller disposes them.</param>
internal sealed partial class EsbApplication(ServiceProvider services)
{
    private readonly BusLifecycle _bus = services.GetRequiredService<BusLifecycle>();
    private readonly StartupReport _report = services.GetRequiredService<StartupReport>();
    private readonly ILogger _logger = services.GetRequiredService<ILogger<EsbApplication>>();

    /// <summary>Runs until a stop is requested.</summary>
    /// <param name="stop">Requests to finish messages in flight and stop.</param>
    /// <param name="abandon">Requests to drop messages in flight.</param>
    /// <exception cref="NewerVersionException">It did not start: another version of the configuration was put into service
    /// meanwhile.</exception>
    /// <exception cref="ConfigurationRefusedException">A configured resource is not available on this machine, such as a port in
    /// use.</exception>
    public async Task<StopOutcome> RunAsync(CancellationToken stop, CancellationToken abandon)
    {
        RequireLogFolder();
        ThreadPoolMinimum.Raise(services.GetRequiredService<Live<HostConfig>>().Current);
        await using var notifier = new ServiceNotifier(
            services.GetRequiredService<ConfigurationSource>().Variables,
            Environment.ProcessId,
            services.GetRequiredService<TimeProvider>(),
            services.GetRequiredService<ILogger<ServiceNotifier>>()
        );
        using var telemetry = TelemetryExport.Start(services);
        await using var management = new ManagementServer(services, ManagementKey.DefaultFile);
        _report.Describe();
        PortProbe.RequireFree(services.GetRequiredService<Live<ListeningPlaces>>().Current.All);
        StopOutcome outcome;
        var startsAnew = false;
        try
        {
            await management.StartAsync(stop);
            await _bus.StartAsync(stop);
            _report.Invite(management.Address, management.KeyFile);
            notifier.Ready();
            await Task.Delay(Timeout.Infinite, stop);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            LogStopping();
        }
        catch (NewerVersionException)
        {
            startsAnew = true;
            throw;
        }
        finally
        {
            if (!startsAnew)
                notifier.Stopping();
            outcome = await _bus.StopAsync(abandon);
        }

        LogStopped(outcome.IsClean ? "what was under way is finished" : $"{outcome.Abandoned} messages under way were abandoned");
        return outcome;
    }

    private void RequireLogFolder()
    {
        var errors = new ConfigErrors();
        EndpointLogs.CheckFolder(services.GetRequiredService<Live<TelemetryConfig>>().Current, errors);
        if (errors.Any)
            throw new ConfigurationRefusedException(errors.All);
    }

    [LoggerMessage(EventId = 5020, Level = LogLevel.Information, Message = "stopping; in-flight messages finish first")]
    private partial void LogStopping();

    [LoggerMessage(EventId = 5021, Level = LogLevel.Information, Message = "stopped: {Outcome}")]
    private partial void LogStopped(string outcome);
}
