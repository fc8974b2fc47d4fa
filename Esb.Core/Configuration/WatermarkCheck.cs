namespace Esb.Core.Configuration;

/// <summary>Refuses marks of overload of which the lower is not the lower one.</summary>
internal sealed class WatermarkCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        var limits = configuration.Section<LimitsConfig>("limits");
        Check(limits, "inFlight", limits.InFlightLow, limits.InFlightHigh, errors);
        Check(limits, "memory", limits.MemoryLow, limits.MemoryHigh, errors);
    }

    private static void Check(LimitsConfig limits, string marks, int low, int high, ConfigErrors errors)
    {
        if (low >= high) errors.Add(new ConfigError("ESB-CFG-WATERMARK", $"limits.{marks}Low", $"{low}", $"expected less than {marks}High, which is {high}", limits.Origin));
    }
}
