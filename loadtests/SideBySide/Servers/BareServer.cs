namespace SideBySide.Servers;

/// <summary>This program as a server: what .NET gives without the bus.</summary>
internal sealed class BareServer : IAsyncDisposable
{
    private readonly ServerProcess _process;

    private BareServer(ServerProcess process, HostProbe probe, string url) => (_process, Probe, Url) = (process, probe, url);

    public HostProbe Probe { get; }

    public string Url { get; }

    public TimeSpan ProcessorTime => _process.ProcessorTime;

    /// <param name="role">One of those of <see cref="Bare.BareCommand"/>.</param>
    public static async Task<BareServer> StartAsync(
        Surroundings surroundings,
        string role,
        IEnumerable<string> arguments,
        CancellationToken cancellationToken
    )
    {
        var folder = surroundings.Folder($"bare-{role}");
        var probe = new HostProbe(Path.Combine(folder, "probe"));
        var url = $"http://127.0.0.1:{FreePorts.Next()}";
        var process = await ServerProcess.StartAsync(
            $"the bare {role}",
            folder,
            ["dotnet", typeof(BareServer).Assembly.Location, "bare", role, url, .. arguments],
            probe.Variables,
            token => Http.AnswersAsync($"{url}/ready", token),
            cancellationToken
        );
        return new BareServer(process, probe, url);
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
