using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Configuration.Rules;

/// <summary>Refuses overload watermarks whose low mark is not below the high mark.</summary>
internal sealed class WatermarkRule(LimitsConfig limits) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        Check("inFlight", limits.InFlightLow, limits.InFlightHigh, errors);
        Check("memory", limits.MemoryLow, limits.MemoryHigh, errors);
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
