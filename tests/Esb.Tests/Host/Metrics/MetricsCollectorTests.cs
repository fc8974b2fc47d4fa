using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Failures;
using Esb.Host.Metrics;
using Esb.Tests.Fakes;
using Esb.Tests.Host.Management;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Host.Metrics;

[CancelAfter(30_000)]
public sealed class MetricsCollectorTests
{
    private readonly string _endpoint = $"erp-{Guid.NewGuid():N}";
    private RunningManagement _host = null!;
    private Meter _meter = null!;

    private MetricsCollector Collector => _host.Services.GetRequiredService<MetricsCollector>();

    [SetUp]
    public async Task Start()
    {
        _host = await RunningManagement.StartAsync(CancellationToken.None);
        await Collector.StartAsync(CancellationToken.None);
        _meter = new Meter("Esb.Endpoints");
    }

    [TearDown]
    public async Task Stop()
    {
        _meter.Dispose();
        await _host.DisposeAsync();
    }

    [Test]
    public void What_is_refused_is_no_document()
    {
        var received = _meter.CreateCounter<long>(EsbTelemetry.Metrics.ReceivedMessages);

        foreach (var outcome in new[] { "accepted", "replied", "relayed", "filtered", "duplicate" })
            received.Add(1, Tags(EsbTelemetry.Tags.Outcome, outcome));
        foreach (var outcome in new[] { "refused", "failed", "aborted" })
            received.Add(1, Tags(EsbTelemetry.Tags.Outcome, outcome));

        Assert.That(Endpoint().Summarize(CounterKind.DocumentsIn)!.Total, Is.EqualTo(5));
        Assert.That(Endpoint().Summarize(CounterKind.Refused)!.Total, Is.EqualTo(3));
    }

    [Test]
    public void Duration_counts_for_its_endpoint_its_topic_and_its_party()
    {
        var duration = _meter.CreateHistogram<double>(EsbTelemetry.Metrics.OutboundDuration);
        var tags = Tags(EsbTelemetry.Tags.Topic, $"topic of {_endpoint}");
        tags.Add(EsbTelemetry.Tags.Party, $"party of {_endpoint}");

        duration.Record(0.1, tags);

        var topic = Collector.Topics.All.Single(measured => measured.Name == $"topic of {_endpoint}");
        var party = Collector.Parties.All.Single(measured => measured.Name == $"party of {_endpoint}");
        Assert.That(
            new[] { Endpoint(), topic, party }.Select(measured => measured.Summarize(LatencyKind.Outbound)!.Count),
            Is.All.EqualTo(1)
        );
    }

    [Test]
    public async Task Dead_letter_counts_once_for_its_endpoint_its_topic_and_its_party()
    {
        var message = Some.Message() with { Subject = $"{_endpoint}.new", Party = _endpoint };
        var keeper = new DeadLetterKeeper(
            Substitute.For<ITopicTransport>(),
            Substitute.For<IDeadLetterStore>(),
            new AuditLog(),
            TimeProvider.System,
            NullLogger<DeadLetterKeeper>.Instance
        );

        await keeper.KeepAsync(
            new DeadLetter(message, _endpoint, "ESB-TEST-FAILED", "It failed.", null, 3, default, default),
            CancellationToken.None
        );

        var measured = new[] { Collector.Endpoints, Collector.Topics, Collector.Parties }.Select(set =>
            set.All.Single(measured => measured.Name == _endpoint)
        );
        Assert.That(measured.Select(one => one.Summarize(CounterKind.DeadLettered)!.Total), Is.EqualTo(new[] { 1, 1, 1 }));
    }

    [Test]
    public void Names_without_end_are_counted_together()
    {
        var sent = _meter.CreateCounter<long>(EsbTelemetry.Metrics.SentOutside);

        for (var number = 0; number < 3_000; number++)
            sent.Add(1, new KeyValuePair<string, object?>(EsbTelemetry.Tags.Party, $"{_endpoint} {number}"));

        Assert.That(Collector.Parties.All, Has.Count.LessThanOrEqualTo(1_001));
        Assert.That(
            Collector.Parties.All.Single(party => party.Name == MeasuredSet.Others).Summarize(CounterKind.DocumentsOut)!.Total,
            Is.GreaterThanOrEqualTo(1_999)
        );
    }

    [Test]
    public void Measurement_allocates_nothing()
    {
        var sent = _meter.CreateCounter<long>(EsbTelemetry.Metrics.SentOutside);
        var duration = _meter.CreateHistogram<double>(EsbTelemetry.Metrics.AdapterDuration);
        Measure(100_000);

        var before = GC.GetAllocatedBytesForCurrentThread();
        var started = TimeProvider.System.GetTimestamp();
        Measure(100_000);

        Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.LessThan(1_000));
        TestContext.Out.WriteLine(
            $"{TimeProvider.System.GetElapsedTime(started).TotalNanoseconds / 200_000:0} ns per measurement of an endpoint and a topic"
        );

        void Measure(int count)
        {
            for (var number = 0; number < count; number++)
            {
                var tags = Tags(EsbTelemetry.Tags.Topic, "orders");
                sent.Add(1, tags);
                duration.Record(0.01, tags);
            }
        }
    }

    private TagList Tags(string name, string value) => new() { { EsbTelemetry.Tags.Endpoint, _endpoint }, { name, value } };

    private Measured Endpoint() => Collector.Endpoints.All.Single(measured => measured.Name == _endpoint);
}
