using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Esb.Delivery;

/// <summary>The span source and the meter of delivery and endpoints, under the name that dashboards use.</summary>
public static class EndpointsTelemetry
{
    public static readonly ActivitySource Source = new("Esb.Endpoints");

    public static readonly Meter Meter = new("Esb.Endpoints");
}
