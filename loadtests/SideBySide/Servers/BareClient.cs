using System.Globalization;

namespace SideBySide.Servers;

/// <summary>The client libraries by hand, without a bus: <c>benchmarks/Esb.BareClient</c>.</summary>
internal sealed class BareClient : IAsyncDisposable
{
    public const string Queue = "bare.orders";

    private readonly ServerProcess _process;

    private BareClient(ServerProcess process, HostProbe probe, string url) => (_process, Probe, Url) = (process, probe, url);

    public HostProbe Probe { get; }

    public string Url { get; }

    public TimeSpan ProcessorTime => _process.ProcessorTime;

    /// <param name="concurrency">Deliveries worked on at once; 1 is a serial loop.</param>
    /// <param name="connections">To the database.</param>
    public static async Task<BareClient> StartAsync(
        Surroundings surroundings,
        string broker,
        string database,
        int concurrency,
        int connections,
        CancellationToken cancellationToken
    )
    {
        var folder = surroundings.Folder("bare-client");
        var probe = new HostProbe(Path.Combine(folder, "probe"));
        var port = FreePorts.Next();
        var process = await ServerProcess.StartAsync(
            "the bare client",
            folder,
            ["dotnet", surroundings.Find("benchmarks/Esb.BareClient/bin/Release/net10.0/Esb.BareClient.dll")],
            [
                new("ESB_RABBITMQ", broker),
                new("ESB_POSTGRES", database),
                new("BARE_URL", $"http://127.0.0.1:{port}"),
                new("BARE_CONCURRENCY", concurrency.ToString(CultureInfo.InvariantCulture)),
                new("BARE_CONNECTIONS", connections.ToString(CultureInfo.InvariantCulture)),
                .. probe.Variables,
            ],
            token => Http.ListensAsync(port, token),
            cancellationToken
        );
        return new BareClient(process, probe, $"http://127.0.0.1:{port}");
    }

    /// <summary>Begins to insert orders; until then they stay in their queue.</summary>
    public Task ConsumeAsync(CancellationToken cancellationToken) => Http.PostAsync($"{Url}/resume", [], "text/plain", cancellationToken);

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
