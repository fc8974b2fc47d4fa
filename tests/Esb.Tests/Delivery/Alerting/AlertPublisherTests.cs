using System.Collections.Concurrent;
using System.Text.Json;
using Esb.Core;
using Esb.Core.Alerts;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Delivery.Alerting;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Delivery.Alerting;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class AlertPublisherTests
{
    private readonly ConcurrentQueue<(string Subject, JsonElement Body)> _published = new();
    private readonly ManualTime _time = new();

    [Test]
    public async Task Alert_of_one_kind_and_endpoint_is_published_once_a_minute_with_the_number_of_the_others(
        CancellationToken cancellationToken
    )
    {
        var alerts = Create(IAlerts.Topic);
        await alerts.StartAsync(cancellationToken);

        for (var i = 0; i < 3; i++)
            alerts.Raise(new Alert(AlertKinds.DeadLetter, "ledger", "ESB-X", "no"));
        alerts.Raise(new Alert(AlertKinds.Paused, "ledger", "ESB-X", "no"));
        _time.Advance(AlertPublisher.Pace);
        alerts.Raise(new Alert(AlertKinds.DeadLetter, "ledger", "ESB-X", "again"));
        await Eventually.HoldsAsync(() => _published.Count == 3, "three alerts", cancellationToken);
        await alerts.StopAsync(cancellationToken);

        Assert.That(
            _published.Select(one => one.Subject),
            Is.EqualTo(["esb-events.shop.dead-letter", "esb-events.shop.paused", "esb-events.shop.dead-letter"])
        );
        var last = _published.Last().Body;
        Assert.That((last.GetProperty("reason").GetString(), last.GetProperty("suppressed").GetInt64()), Is.EqualTo(("again", 2)));
    }

    [Test]
    public async Task Two_marks_that_are_crossed_within_a_minute_are_both_told(CancellationToken cancellationToken)
    {
        var alerts = Create(IAlerts.Topic);
        await alerts.StartAsync(cancellationToken);

        foreach (var mark in new[] { "memory", "disk", "memory" })
            alerts.Raise(new Alert(AlertKinds.Mark, Endpoint: null, "ESB-MARK-CROSSED", mark) { Mark = mark });
        await Eventually.HoldsAsync(() => _published.Count == 2, "two alerts", cancellationToken);
        await alerts.StopAsync(cancellationToken);

        Assert.That(_published.Select(one => one.Body.GetProperty("mark").GetString()), Is.EqualTo(["memory", "disk"]));
    }

    [Test]
    public async Task Endpoint_that_takes_alerts_raises_none(CancellationToken cancellationToken)
    {
        var alerts = Create(IAlerts.Topic);
        await alerts.StartAsync(cancellationToken);

        alerts.Raise(new Alert(AlertKinds.DeadLetter, "alarm", "ESB-X", "no"));
        alerts.Raise(new Alert(AlertKinds.DeadLetter, "ledger", "ESB-X", "no"));
        await Eventually.HoldsAsync(() => !_published.IsEmpty, "an alert", cancellationToken);
        await alerts.StopAsync(cancellationToken);

        Assert.That(_published.Select(one => one.Body.GetProperty("endpoint").GetString()), Is.EqualTo(["ledger"]));
    }

    [Test]
    public async Task Nothing_is_published_where_the_configuration_has_no_topic_for_it(CancellationToken cancellationToken)
    {
        var alerts = Create("orders");
        await alerts.StartAsync(cancellationToken);

        alerts.Raise(new Alert(AlertKinds.DeadLetter, "ledger", "ESB-X", "no"));
        await alerts.StopAsync(cancellationToken);

        Assert.That(_published, Is.Empty);
    }

    private AlertPublisher Create(string topic)
    {
        var publisher = Substitute.For<ITopicPublisher>();
        publisher
            .PublishAsync(null!, null!, null!, default)
            .ReturnsForAnyArgs(call =>
            {
                _published.Enqueue(
                    (call.Arg<Subject>().Value, JsonDocument.Parse(call.Arg<MessageContext>().Message.Body.Bytes).RootElement)
                );
                return ValueTask.CompletedTask;
            });
        var services = new ServiceCollection().AddSingleton(publisher).BuildServiceProvider();
        var endpoints = new EndpointModels(
            [],
            [
                new OutboundModel(new Target { Name = "ledger", Subscribe = [SubjectPattern.Parse("orders.#")!] }, "target", null, null),
                new OutboundModel(new Target { Name = "alarm", Subscribe = [SubjectPattern.Parse("esb-events.#")!] }, "target", null, null),
            ]
        );
        IReadOnlyDictionary<string, TopicConfig> topics = new Dictionary<string, TopicConfig> { [topic] = new() };
        return new AlertPublisher(
            services,
            new BusIdentity("shop"),
            Live<IReadOnlyDictionary<string, TopicConfig>>.Always(topics),
            endpoints,
            _time,
            NullLogger<AlertPublisher>.Instance
        );
    }

    private sealed record Target : OutboundEndpointConfig;
}
