namespace Esb.Tests.Endpoints.Http.Relaying;

/// <summary>A relay between raw connections: tests see every byte on both sides.</summary>
public abstract class RelayWire
{
    private protected HttpBus Bus { get; private set; } = null!;

    [SetUp]
    public void CreateBus() => Bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await Bus.DisposeAsync();

    protected Task<string> AskAsync(string request, CancellationToken cancellationToken) =>
        RawConnection.AskAsync(Bus.Port, request, cancellationToken);

    /// <param name="url">Where requests are relayed to.</param>
    /// <param name="outbound">Further settings of the outbound endpoint, each after a comma.</param>
    protected Task StartAsync(string url, string outbound = "") =>
        Bus.StartAsync(
            $$"""
            "relay": { "type": "http-inbound", "path": "/relay", "methods": ["GET", "HEAD", "POST", "PUT"], "relay": "backend" },
            "backend": { "type": "http-outbound", "url": "{{url}}", "poolSize": 10 {{outbound}} }
            """
        );
}
