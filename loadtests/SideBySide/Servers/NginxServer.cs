namespace SideBySide.Servers;

/// <summary>nginx, as back end or as a plain proxy before it; each in processes of its own.</summary>
internal sealed class NginxServer : IAsyncDisposable
{
    private readonly ServerProcess _process;

    private NginxServer(ServerProcess process, int port) => (_process, Address) = (process, $"127.0.0.1:{port}");

    /// <summary>Host and port.</summary>
    public string Address { get; }

    public string Url => $"http://{Address}";

    public TimeSpan ProcessorTime => _process.ProcessorTime;

    /// <param name="folder">With the documents in <c>www</c>.</param>
    public static Task<NginxServer> StartBackendAsync(Surroundings surroundings, string folder, CancellationToken cancellationToken) =>
        StartAsync(surroundings, folder, "nginx-backend.conf", "", cancellationToken);

    public static Task<NginxServer> StartProxyAsync(Surroundings surroundings, NginxServer backend, CancellationToken cancellationToken) =>
        StartAsync(surroundings, surroundings.Folder("proxy"), "nginx-proxy.conf", backend.Address, cancellationToken);

    public ValueTask DisposeAsync() => _process.DisposeAsync();

    private static async Task<NginxServer> StartAsync(
        Surroundings surroundings,
        string folder,
        string template,
        string backend,
        CancellationToken cancellationToken
    )
    {
        var port = FreePorts.Next();
        var text = await File.ReadAllTextAsync(surroundings.Find($"loadtests/compare.d/{template}"), cancellationToken);
        var configuration = Path.Combine(folder, "nginx.conf");
        await File.WriteAllTextAsync(configuration, text.Replace("PORT", $"{port}").Replace("BACKEND", backend), cancellationToken);
        var process = await ServerProcess.StartAsync(
            "nginx",
            folder,
            ["nginx", "-p", folder, "-c", configuration],
            [],
            token => Http.AnswersAsync($"http://127.0.0.1:{port}/buy-1K.xml", token),
            cancellationToken
        );
        return new NginxServer(process, port);
    }
}
