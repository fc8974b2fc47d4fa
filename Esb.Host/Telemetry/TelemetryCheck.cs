using Esb.Core;
using Esb.Core.Configuration;

namespace Esb.Host.Telemetry;

internal sealed class TelemetryCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        var telemetry = configuration.Section<TelemetryConfig>("telemetry");
        if (telemetry.Otlp is not { } url || OtlpTarget.Parse(url) is not null) return;
        errors.Add("ESB-CFG-URL", telemetry, "otlp", "expected an address such as \"http://127.0.0.1:4317\"");
    }
}
