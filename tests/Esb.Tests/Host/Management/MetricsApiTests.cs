using System.Diagnostics.Metrics;
using System.Net;
using System.Net.Http.Json;
using System.Text.Json;
using System.Text.RegularExpressions;
using Esb.Core.Diagnostics;
using Esb.Core.Endpoints;
using Esb.Host.Metrics;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Host.Management;

[CancelAfter(30_000)]
public sealed partial class MetricsApiTests
{
    private readonly string _endpoint = $"erp\"{Guid.NewGuid():N}";
    private RunningManagement _host = null!;
    private IEndpointMonitor _monitor = null!;
    private Meter _meter = null!;

    [SetUp]
    public async Task Start()
    {
        _monitor = Substitute.For<IEndpointMonitor>();
        _monitor.Endpoints.Returns([
            new EndpointStatus
            {
                Name = "shop",
                Type = "http-inbound",
                State = EndpointState.Running,
                InFlight = 30,
                PeakInFlight = 150,
                MaxInFlight = 200,
            },
        ]);
        _host = await RunningManagement.StartAsync(CancellationToken.None, services => services.AddSingleton(_monitor));
        await _host.Services.GetRequiredService<MetricsCollector>().StartAsync(CancellationToken.None);
        _meter = new Meter("Esb.Endpoints");
        _meter
            .CreateHistogram<double>(EsbTelemetry.Metrics.AdapterDuration)
            .Record(0.2, new KeyValuePair<string, object?>(EsbTelemetry.Tags.Endpoint, _endpoint));
    }

    [TearDown]
    public async Task Stop()
    {
        _meter.Dispose();
        await _host.DisposeAsync();
    }

    [Test]
    public async Task Snapshot_shows_latencies_and_shares(CancellationToken cancellationToken)
    {
        var metrics = await _host.Client.GetFromJsonAsync<JsonElement>("/api/metrics", cancellationToken);

        var latency = metrics
            .GetProperty("endpoints")
            .EnumerateArray()
            .Single(endpoint => endpoint.GetProperty("name").GetString() == _endpoint)
            .GetProperty("outboundAdapterLatency");
        var calls = metrics.GetProperty("calls").EnumerateArray().Single();
        Assert.Multiple(() =>
        {
            Assert.That(latency.GetProperty("count").GetInt64(), Is.EqualTo(1));
            Assert.That(latency.GetProperty("p95").GetDouble(), Is.EqualTo(0.2).Within(7).Percent);
            Assert.That(calls.GetProperty("share").GetDouble(), Is.EqualTo(0.15));
            Assert.That(calls.GetProperty("peakShare").GetDouble(), Is.EqualTo(0.75));
        });
    }

    [TestCase("/api/metrics?format=prometheus", "*/*"), TestCase("/api/metrics", "text/plain")]
    public async Task Prometheus_gets_lines_that_it_can_read(string path, string accept, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        request.Headers.Accept.ParseAdd(accept);

        using var response = await _host.Client.SendAsync(request, cancellationToken);

        var lines = (await response.Content.ReadAsStringAsync(cancellationToken)).Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Multiple(() =>
        {
            Assert.That(response.Content.Headers.ContentType!.ToString(), Is.EqualTo("text/plain; version=0.0.4; charset=utf-8"));
            Assert.That(lines.Where(line => !Sample().IsMatch(line) && !line.StartsWith("# TYPE ", StringComparison.Ordinal)), Is.Empty);
            Assert.That(
                lines,
                Does.Contain(
                    $"esb_endpoint_outbound_adapter_latency_seconds_bucket{{endpoint=\"{_endpoint.Replace("\"", "\\\"")}\",le=\"0.1\"}} 0"
                )
            );
            Assert.That(
                lines,
                Does.Contain(
                    $"esb_endpoint_outbound_adapter_latency_seconds_bucket{{endpoint=\"{_endpoint.Replace("\"", "\\\"")}\",le=\"0.25\"}} 1"
                )
            );
            Assert.That(lines, Does.Contain("esb_calls_in_use{endpoint=\"shop\"} 30"));
        });
    }

    [Test]
    public async Task Peaks_begin_anew(CancellationToken cancellationToken)
    {
        using var response = await _host.Client.DeleteAsync("/api/metrics/peaks", cancellationToken);

        var metrics = await _host.Client.GetFromJsonAsync<JsonElement>("/api/metrics", cancellationToken);
        var endpoint = metrics.GetProperty("endpoints").EnumerateArray().Single(one => one.GetProperty("name").GetString() == _endpoint);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.NoContent));
        Assert.That(endpoint.GetProperty("outboundAdapterLatency").GetProperty("max").GetDouble(), Is.Zero);
        _monitor.Received(1).ResetPeaks();
    }

    [Test]
    public async Task Unknown_format_is_refused(CancellationToken cancellationToken)
    {
        using var response = await _host.Client.GetAsync("/api/metrics?format=xml", cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
    }

    [GeneratedRegex("""^[a-z_]+(\{([a-z_]+="([^"\\]|\\["\\n])*",?)+\})? [0-9.eE+-]+$""")]
    private static partial Regex Sample();
}
