namespace SideBySide.Servers;

/// <summary>An application of MassTransit that inserts orders: <c>benchmarks/Esb.MassTransitClient</c>.</summary>
internal sealed class MassTransitClient : IAsyncDisposable
{
    public const string Queue = "masstransit.orders";

    private readonly ServerProcess _process;

    private MassTransitClient(ServerProcess process, HostProbe probe) => (_process, Probe) = (process, probe);

    public HostProbe Probe { get; }

    public TimeSpan ProcessorTime => _process.ProcessorTime;

    /// <summary>Starts it; it consumes at once.</summary>
    /// <exception cref="NotRunException">It does not start; the message says why.</exception>
    public static async Task<MassTransitClient> StartAsync(
        Surroundings surroundings,
        string broker,
        string database,
        CancellationToken cancellationToken
    )
    {
        var folder = surroundings.Folder("masstransit-client");
        var (probe, ready) = (new HostProbe(Path.Combine(folder, "probe")), Path.Combine(folder, "ready"));
        var process = await ServerProcess.StartAsync(
            "the MassTransit client",
            folder,
            ["dotnet", surroundings.Find("benchmarks/Esb.MassTransitClient/bin/Release/net10.0/Esb.MassTransitClient.dll")],
            [new("ESB_RABBITMQ", broker), new("ESB_POSTGRES", database), new("READY_FILE", ready), .. probe.Variables],
            _ => Task.FromResult(File.Exists(ready)),
            cancellationToken
        );
        return new MassTransitClient(process, probe);
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
