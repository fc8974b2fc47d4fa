using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Host.Telemetry;

internal sealed class TelemetryRule(TelemetryConfig telemetry) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        if (telemetry.Otlp is not { } url)
            return;
        if (OtlpTarget.Parse(url) is null)
            errors.Add("ESB-CFG-URL", telemetry, "otlp", "expected an address such as \"http://127.0.0.1:4317\"");
        else if (IsInsecure(new Uri(url)))
            errors.Warn(
                "ESB-CFG-INSECURE",
                telemetry,
                "otlp",
                "traces and metrics cross the network in clear: expected https://, or a collector on this machine"
            );
    }

    private static bool IsInsecure(Uri url) => url.Scheme == Uri.UriSchemeHttp && !LoopbackHosts.Is(url.Host.Trim('[', ']'));
}
