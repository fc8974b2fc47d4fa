using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Esb.Delivery;

/// <summary>The one source of spans and the one meter of delivery and endpoints, by the name that dashboards know.</summary>
public static class EndpointsTelemetry
{
    public static readonly ActivitySource Source = new("Esb.Endpoints");

    public static readonly Meter Meter = new("Esb.Endpoints");
}
