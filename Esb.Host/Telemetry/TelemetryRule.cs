using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Host.Telemetry;

internal sealed class TelemetryRule(TelemetryConfig telemetry) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        if (telemetry.Otlp is not { } url || OtlpTarget.Parse(url) is not null) return;
        errors.Add("ESB-CFG-URL", telemetry, "otlp", "expected an address such as \"http://127.0.0.1:4317\"");
    }
}
