using Esb.Core.Endpoints;
using Esb.Tests.Endpoints.Contracts;

namespace Esb.Tests.Endpoints.Http;

[TestFixture]
internal sealed class HttpOutboundContract : OutboundEndpointContract
{
    private HttpBus _bus = null!;
    private Backend _backend = null!;

    [SetUp]
    public async Task StartBackend() => (_bus, _backend) = (new HttpBus(), await Backend.StartAsync());

    [TearDown]
    public async Task StopBackend()
    {
        await _bus.DisposeAsync();
        await _backend.DisposeAsync();
    }

    protected override IOutboundAdapter Create() => CreateTo(_backend.Url);

    protected override IOutboundAdapter CreateAway() => CreateTo($"http://127.0.0.1:{FreePorts.Next()}/nobody");

    protected override Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken)
    {
        lock (_backend.Requests)
            return Task.FromResult<IReadOnlyList<string>>([
                .. _backend.Requests.Select(request => request[(request.IndexOf("\n\n", StringComparison.Ordinal) + 2)..]),
            ]);
    }

    private IOutboundAdapter CreateTo(string url)
    {
        _bus.Read($$""" "out": { "type": "http-outbound", "url": "{{url}}" } """);
        return OutboundEndpoints.Create(_bus, "out");
    }
}
