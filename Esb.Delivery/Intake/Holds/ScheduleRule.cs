using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Delivery.Intake.Holds;

/// <summary>Rejects schedules that never open.</summary>
internal sealed class ScheduleRule(IReadOnlyDictionary<string, EndpointConfig> endpoints) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        foreach (var schedule in endpoints.Values.OfType<InboundEndpointConfig>().Select(endpoint => endpoint.Schedule))
        {
            if (schedule is { IsWhole: true } && schedule.From == schedule.To)
                errors.Add("ESB-CFG-SCHEDULE", schedule, "to", "expected another time than from; a whole day is 00:00 to 24:00");
        }
    }
}
