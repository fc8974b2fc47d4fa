using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;

namespace Esb.Storage.Evidence;

/// <summary>Anchors without a key would prove nothing, and a short one can be guessed.</summary>
internal sealed class EvidenceCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    private const int MinKeyLength = 16;

    public void Check(ConfigErrors errors)
    {
        var config = AuditEvidenceConfig.Of(configuration);
        if (config.Anchors is not null && config.AnchorKey is null)
            errors.Add("ESB-CFG-REQUIRED", config, "anchorKey", "expected a key, by reference, such as \"${file:/run/secrets/anchor-key}\", because anchors are written");
        if (config.AnchorKey is { Length: < MinKeyLength })
            errors.Add("ESB-CFG-RANGE", config, "anchorKey", $"expected at least {MinKeyLength} characters");
    }
}
