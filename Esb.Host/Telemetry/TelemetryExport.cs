using System.Diagnostics.Metrics;
using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using OpenTelemetry;
using OpenTelemetry.Exporter;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace Esb.Host.Telemetry;

/// <summary>Exports traces and metrics to a collector; disposing flushes the rest.</summary>
internal sealed class TelemetryExport : IDisposable
{
    // Topics create their own spans for RabbitMQ.Client and MassTransit, so the sources of these two are omitted to avoid duplicates.
    private static readonly string[] LibrarySources = ["Microsoft.AspNetCore", "System.Net.Http", "Npgsql"];
    private static readonly string[] LibraryMeters =
    [
        "Microsoft.AspNetCore.Hosting",
        "Microsoft.AspNetCore.Server.Kestrel",
        "System.Net.Http",
        "System.Runtime",
        "Npgsql",
    ];

    // Leaves method, path and server out of the web server's spans: 0.6 KB for each request, which only an export reads.
    private const string NoTags = "Microsoft.AspNetCore.Hosting.SuppressActivityOpenTelemetryData";

    private readonly TracerProvider _traces;
    private readonly MeterProvider _metrics;

    private TelemetryExport(string name, OtlpTarget target, Live<IMessageMask> mask)
    {
        _traces = Sdk.CreateTracerProviderBuilder()
            .ConfigureResource(resource => Describe(resource, name))
            .AddSource([.. EsbTelemetry.Sources, .. LibrarySources])
            .AddProcessor(new SpanMask(mask))
            .AddOtlpExporter(options => target.Configure(options, "traces"))
            .Build();
        _metrics = Sdk.CreateMeterProviderBuilder()
            .ConfigureResource(resource => Describe(resource, name))
            .AddMeter([.. EsbTelemetry.Sources, .. LibraryMeters])
            .AddView(ViewOf)
            .AddOtlpExporter(options => target.Configure(options, "metrics"))
            .Build();
    }

    /// <summary>Starts the export; null if the configuration names no collector. To be called before the first listener opens.</summary>
    /// <param name="services">The services with the configuration and the mask of span contents.</param>
    public static TelemetryExport? Start(IServiceProvider services)
    {
        var target = services.GetRequiredService<Live<TelemetryConfig>>().Current.Otlp is { } url ? OtlpTarget.Parse(url) : null;
        AppContext.SetSwitch(NoTags, target is null);
        return target is null
            ? null
            : new TelemetryExport(
                services.GetRequiredService<BusIdentity>().Name,
                target,
                services.GetRequiredService<Live<IMessageMask>>()
            );
    }

    public void Dispose()
    {
        _traces.Dispose();
        _metrics.Dispose();
    }

    internal static MetricStreamConfiguration? ViewOf(Instrument instrument) =>
        instrument is Histogram<double> { Unit: "s" } && EsbTelemetry.Sources.Contains(instrument.Meter.Name)
            ? new ExplicitBucketHistogramConfiguration { Boundaries = [.. EsbTelemetry.DurationBuckets] }
            : null;

    private static void Describe(ResourceBuilder resource, string name) =>
        resource.AddService(
            name,
            serviceVersion: HostVersion.Text,
            serviceInstanceId: $"{Environment.MachineName}/{Environment.ProcessId}"
        );
}
