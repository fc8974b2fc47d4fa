using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;

namespace Esb.Configuration.Rules;

/// <summary>Refuses overload watermarks whose low mark is not below the high mark.</summary>
internal sealed class WatermarkRule(LimitsConfig limits, IReadOnlyDictionary<string, EndpointConfig> endpoints) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        Check("inFlight", limits.InFlightLow, limits.InFlightHigh, errors);
        Check("memory", limits.MemoryLow, limits.MemoryHigh, errors);
        Check("disk", limits.DiskLow, limits.DiskHigh, errors);
        Check(limits, "limits.sessions", limits.SessionsLow, limits.SessionsHigh, errors);
        Check(limits, "limits.instances", limits.InstancesLow, limits.InstancesHigh, errors);
        Check(limits, "limits.processor", limits.ProcessorLow, limits.ProcessorHigh, errors);
        Check(limits, "limits.processorQueue", limits.ProcessorQueueLow, limits.ProcessorQueueHigh, errors);
        foreach (var endpoint in endpoints.Values.OfType<OutboundEndpointConfig>())
            Check(endpoint, $"endpoints.{endpoint.Name}.waiting", endpoint.WaitingLow, endpoint.WaitingHigh, errors);
    }

    private static void Check(SettingsRecord settings, string marks, int? low, int? high, ConfigErrors errors)
    {
        if (low is not { } least || least < high)
            return;
        var expected = high is { } most ? $"expected less than the high mark, which is {most}" : "means nothing without the high mark";
        errors.Add(new ConfigError("ESB-CFG-WATERMARK", $"{marks}Low", $"{least}", expected, settings.Origin));
    }

    private void Check(string marks, int low, int high, ConfigErrors errors)
    {
        if (low >= high)
            errors.Add(
                new ConfigError(
                    "ESB-CFG-WATERMARK",
                    $"limits.{marks}Low",
                    $"{low}",
                    $"expected less than {marks}High, which is {high}",
                    limits.Origin
                )
            );
    }
}
