using System.Diagnostics.Metrics;
using Esb.Core;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;

namespace Esb.Host.Metrics;

/// <summary>Gauges of the in-flight calls at inbound endpoints, while the host runs.</summary>
internal sealed class CallGauges(IEnumerable<IEndpointMonitor> monitors) : IBusPart, IDisposable
{
    private Meter? _meter; // per host: gauges keep references to their sources

    public BusStage Stage => BusStage.Inbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(IEndpointMonitor)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _meter = new Meter("Esb.Host");
        _meter.ObservableGauge(EsbTelemetry.Metrics.CallsInUse, () => Measure(endpoint => endpoint.InFlight));
        _meter.ObservableGauge(EsbTelemetry.Metrics.CallsMaximum, () => Measure(endpoint => endpoint.MaxInFlight!.Value));
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        Dispose();
        return Task.CompletedTask;
    }

    public void Dispose() => _meter?.Dispose();

    // The pools report outbound endpoints.
    private List<Measurement<long>> Measure(Func<EndpointStatus, long> value) =>
        [
            .. monitors
                .SelectMany(monitor => monitor.Endpoints)
                .Where(endpoint => endpoint is { MaxInFlight: not null, Pool: null })
                .Select(endpoint => new Measurement<long>(
                    value(endpoint),
                    new KeyValuePair<string, object?>(EsbTelemetry.Tags.Endpoint, endpoint.Name)
                )),
        ];
}
