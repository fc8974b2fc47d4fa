using System.Diagnostics.Metrics;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using Esb.Host.Telemetry;
using NUnit.Framework;
using OpenTelemetry.Exporter;
using OpenTelemetry.Metrics;

namespace Esb.Tests.Host.Telemetry;

public sealed class TelemetryTests
{
    [TestCase("http://collector:4317", OtlpExportProtocol.Grpc, "http://collector:4317/")]
    [TestCase("http://collector:4318", OtlpExportProtocol.HttpProtobuf, "http://collector:4318/v1/traces")]
    [TestCase("https://collector/v1/traces", OtlpExportProtocol.HttpProtobuf, "https://collector/v1/traces")]
    public void Port_and_path_tell_which_form_a_collector_takes(string url, OtlpExportProtocol protocol, string endpoint)
    {
        var options = new OtlpExporterOptions();

        OtlpTarget.Parse(url)!.Configure(options, "traces");

        Assert.That(options.Protocol, Is.EqualTo(protocol));
        Assert.That(options.Endpoint, Is.EqualTo(new Uri(endpoint)));
    }

    [TestCase("collector:4317"), TestCase("ftp://collector"), TestCase("http://me:secret@collector:4317")]
    public void Anything_else_is_no_collector(string url) => Assert.That(OtlpTarget.Parse(url), Is.Null);

    [
        TestCase("http://127.0.0.1:4317", false),
        TestCase("http://localhost:4318", false),
        TestCase("https://collector", false),
        TestCase("http://collector:4317", true)
    ]
    public void A_collector_on_another_machine_without_TLS_is_a_warning(string url, bool isWarned)
    {
        var errors = new ConfigErrors();

        new TelemetryRule(new TelemetryConfig { Otlp = url }).Check(errors);

        Assert.That(errors.Warnings.Select(warning => warning.Code), Is.EqualTo(isWarned ? ["ESB-CFG-INSECURE"] : Array.Empty<string>()));
    }

    [Test]
    public void Our_durations_have_the_advised_buckets_and_others_keep_theirs()
    {
        using var ours = new Meter("Esb.Topics");
        using var others = new Meter("System.Net.Http");

        var view = TelemetryExport.ViewOf(ours.CreateHistogram<double>(EsbTelemetry.Metrics.ProcessDuration, "s"));

        Assert.That((view as ExplicitBucketHistogramConfiguration)!.Boundaries, Is.EqualTo(EsbTelemetry.DurationBuckets));
        Assert.That(TelemetryExport.ViewOf(others.CreateHistogram<double>("http.client.request.duration", "s")), Is.Null);
        Assert.That(TelemetryExport.ViewOf(ours.CreateHistogram<double>("size", "By")), Is.Null);
    }
}
