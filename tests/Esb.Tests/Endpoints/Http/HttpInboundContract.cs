using System.Net;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Delivery.Intake.Holds;
using Esb.Endpoints.Http;
using Esb.Endpoints.Http.Listening;
using Esb.Tests.Endpoints.Contracts.Inbound;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Endpoints.Http;

[TestFixture]
internal sealed class HttpInboundContract : InboundEndpointContract
{
    private HttpBus _bus = null!;

    protected override bool Waits => false;

    protected override IntakeHold IntakeHold => _bus.Services.GetRequiredService<IntakeHolds>().Of("in");

    [SetUp]
    public void CreateBus() => _bus = new HttpBus { AuditGate = AuditGate };

    [TearDown]
    public async Task StopBus()
    {
        await _bus
            .Services.GetRequiredService<HttpListeners>()
            .StopAsync(new CancellationToken(canceled: true))
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await _bus.DisposeAsync();
    }

    // The listener without the endpoints of the bus: they would hand over to its own intake.
    protected override async Task<IInboundEndpoint> CreateAsync()
    {
        _bus.Read(
            $$""" "in": { "type": "http-inbound", "path": "/in", "publish": "orders.new", "maxConcurrentCalls": {{AtOnce}}, "maxBodySize": "{{MaxBodyBytes}}B", "idempotency": false } """
        );
        Assert.That(_bus.Errors.All, Is.Empty);
        await _bus.Services.GetRequiredService<HttpListeners>().StartAsync(CancellationToken.None);
        return _bus.Services.GetRequiredService<EndpointModels>().Inbound.Single().Create!(_bus.Services, Intake);
    }

    protected override async Task<SenderVerdict> SendAsync(string body, CancellationToken cancellationToken)
    {
        using var answer = await _bus.PostAsync("/in", body, cancellationToken: cancellationToken);
        return answer.StatusCode switch
        {
            HttpStatusCode.Accepted => SenderVerdict.Accepted,
            HttpStatusCode.ServiceUnavailable => SenderVerdict.TryAgain,
            >= HttpStatusCode.BadRequest and < HttpStatusCode.InternalServerError => SenderVerdict.Refused,
            var other => throw new AssertionException($"It was answered with {other}."),
        };
    }

    protected override void Overload(bool isOverloaded) =>
        _bus.Transport.Status.Returns(new TransportStatus(IsReady: !isOverloaded, isOverloaded ? "low on memory" : null));
}
