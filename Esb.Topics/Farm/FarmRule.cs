using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Topics.Farm;

/// <summary>Refuses keys that are too short to sign with.</summary>
internal sealed class FarmRule(FarmConfig farm) : IConfigurationRule
{
    private static readonly string Expected = $"expected at least {FarmConfig.ShortestKey} characters";

    public void Check(ConfigErrors errors)
    {
        if (farm.Key is { Length: < FarmConfig.ShortestKey })
            errors.Add("ESB-CFG-RANGE", farm, "key", Expected);
        if (farm.PreviousKey is { Length: < FarmConfig.ShortestKey })
            errors.Add("ESB-CFG-RANGE", farm, "previousKey", Expected);
        if (farm is { PreviousKey: not null, Key: null })
            errors.Add("ESB-CFG-REQUIRED", farm, "key", "expected the key that replaces previousKey");
    }
}
