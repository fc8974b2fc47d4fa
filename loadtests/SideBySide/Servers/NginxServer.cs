namespace SideBySide.Servers;

/// <summary>nginx as back end, and as a plain proxy before it.</summary>
internal sealed class NginxServer : IAsyncDisposable
{
    private readonly ServerProcess _process;

    private NginxServer(ServerProcess process, string backend, string proxy) => (_process, Backend, Proxy) = (process, backend, proxy);

    public string Backend { get; }

    public string Proxy { get; }

    public TimeSpan ProcessorTime => _process.ProcessorTime;

    /// <param name="folder">With the documents in <c>www</c>.</param>
    public static async Task<NginxServer> StartAsync(Surroundings surroundings, string folder, CancellationToken cancellationToken)
    {
        var (backend, proxy) = (FreePorts.Next(), FreePorts.Next());
        var text = await File.ReadAllTextAsync(surroundings.Find("loadtests/compare.d/nginx.conf"), cancellationToken);
        var configuration = Path.Combine(folder, "nginx.conf");
        await File.WriteAllTextAsync(configuration, text.Replace(":BACKEND", $":{backend}").Replace(":PROXY", $":{proxy}"), cancellationToken);
        var process = ServerProcess.Start("nginx", folder, ["nginx", "-p", folder, "-c", configuration], []);
        var server = new NginxServer(process, $"http://127.0.0.1:{backend}", $"http://127.0.0.1:{proxy}");
        try
        {
            await process.WaitUntilAsync(token => Http.AnswersAsync($"{server.Proxy}/buy-1K.xml", token), cancellationToken);
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
