using System.Net;
using Esb.Core.Pooling;
using Esb.Delivery.Outbound;
using Esb.Endpoints.Http.Relaying;
using Esb.Endpoints.Http.Sending;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Http.Sending;

/// <summary>How many requests reach an outside at once after <c>poolSize</c> was changed.</summary>
[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class HttpTuningTests
{
    private readonly TaskCompletionSource _leave = new();
    private int _arrived;
    private HttpBus _bus = null!;
    private Backend _backend = null!;
    private EndpointSender _sender = null!;

    [SetUp]
    public async Task StartBus()
    {
        _backend = await Backend.StartAsync(async _ =>
        {
            Interlocked.Increment(ref _arrived);
            await _leave.Task;
        });
        _bus = await new HttpBus().StartAsync(
            $$"""
            "relay": { "type": "http-inbound", "path": "/relay", "relay": "backend" },
            "backend": { "type": "http-outbound", "url": "{{_backend.Url}}", "poolSize": 2 }
            """
        );
        _sender = new EndpointSender(
            OutboundEndpoints.ConfigOf(_bus, "backend"),
            OutboundEndpoints.Create(_bus, "backend"),
            TimeProvider.System,
            NullLoggerFactory.Instance
        );
    }

    [TearDown]
    public async Task StopBus()
    {
        _leave.TrySetResult();
        await _sender.DisposeAsync();
        await _bus.DisposeAsync();
        await _backend.DisposeAsync();
    }

    [Test]
    public async Task Deliveries_reach_the_outside_at_once_as_many_as_the_larger_pool_has(CancellationToken cancellationToken)
    {
        var sending = Enumerable
            .Range(0, 20)
            .Select(_ => _sender.SendAsync(Some.Message(), unitOfWork: null, cancellationToken).AsTask())
            .ToList();
        await Eventually.HoldsAsync(() => (_arrived, _sender.Pool.Waiting) == (2, 18), "two, as configured", cancellationToken);

        _sender.Resize(poolSize: 20, processingThreads: 20);

        await Eventually.HoldsAsync(() => _arrived == 20, "all of them", cancellationToken);
        _leave.SetResult();
        Assert.That(await Task.WhenAll(sending), Has.All.Not.Null);
    }

    [Test]
    public async Task Relays_reach_the_outside_at_once_as_many_as_the_larger_pool_has(CancellationToken cancellationToken)
    {
        var asking = Enumerable
            .Range(0, 20)
            .Select(_ => _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken))
            .ToList();
        await Eventually.HoldsAsync(() => (_arrived, Relays.Status.Waiting) == (2, 18), "two, as configured", cancellationToken);

        _sender.Resize(poolSize: 20, processingThreads: 20);

        await Eventually.HoldsAsync(() => _arrived == 20, "all of them", cancellationToken);
        _leave.SetResult();
        foreach (var answer in await Task.WhenAll(asking))
            Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }

    [Test]
    public async Task Relays_wait_for_the_places_of_a_smaller_pool(CancellationToken cancellationToken)
    {
        _sender.Resize(poolSize: 1, processingThreads: 1);

        var asking = Enumerable
            .Range(0, 3)
            .Select(_ => _bus.PostAsync("/relay", "<order/>", cancellationToken: cancellationToken))
            .ToList();

        await Eventually.HoldsAsync(() => (_arrived, Relays.Status.Waiting) == (1, 2), "one, and two that wait", cancellationToken);
        _leave.SetResult();
        foreach (var answer in await Task.WhenAll(asking))
            Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }

    private InstancePool<HttpRelay> Relays =>
        _bus.Services.GetRequiredService<HttpTargets>().Of((HttpOutboundConfig)OutboundEndpoints.ConfigOf(_bus, "backend")).Relays;
}
