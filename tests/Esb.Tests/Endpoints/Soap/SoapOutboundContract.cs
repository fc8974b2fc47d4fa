using Esb.Core.Endpoints;
using Esb.Endpoints.Soap;
using Esb.Tests.Endpoints.Contracts;
using Esb.Tests.Endpoints.Http;

namespace Esb.Tests.Endpoints.Soap;

[TestFixture]
internal sealed class SoapOutboundContract : OutboundEndpointContract
{
    private const string Start = "<soap:Body>";

    private HttpBus _bus = null!;
    private Backend _backend = null!;

    [SetUp]
    public async Task StartBackend() =>
        (_bus, _backend) = (new HttpBus { Types = services => services.AddSoapEndpoints() }, await Backend.StartAsync());

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
        {
            return Task.FromResult<IReadOnlyList<string>>([
                .. _backend.Requests.Select(request =>
                {
                    var start = request.IndexOf(Start, StringComparison.Ordinal) + Start.Length;
                    return request[start..request.IndexOf("</soap:Body>", StringComparison.Ordinal)];
                }),
            ]);
        }
    }

    private IOutboundAdapter CreateTo(string url)
    {
        _bus.Read($$""" "out": { "type": "soap-outbound", "url": "{{url}}" } """);
        return OutboundEndpoints.Create(_bus, "out");
    }
}
