using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Esb.Endpoints;

/// <summary>The one source of spans and the one meter of this assembly.</summary>
internal static class EndpointsTelemetry
{
    public static readonly ActivitySource Source = new("Esb.Endpoints");

    public static readonly Meter Meter = new("Esb.Endpoints");
}
