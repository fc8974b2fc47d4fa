using SideBySide.Bare;

namespace SideBySide.Servers;

/// <summary>What answers behind every side: nginx, or, where that is missing, a server of our own.</summary>
internal sealed class Backend : IAsyncDisposable
{
    private readonly NginxServer? _nginx;
    private readonly BareServer? _bare;

    private Backend(NginxServer nginx, NginxServer proxy) => (_nginx, Proxy) = (nginx, proxy);

    private Backend(BareServer bare) => _bare = bare;

    public string Url => _nginx?.Url ?? _bare!.Url;

    /// <summary>The proxy before it that is the limit; null where nginx is missing.</summary>
    public NginxServer? Proxy { get; }

    /// <param name="folder">With the documents in <c>www</c>.</param>
    public static async Task<Backend> StartAsync(Surroundings surroundings, string folder, CancellationToken cancellationToken)
    {
        if (!Surroundings.HasProgram("nginx"))
            return new Backend(await BareServer.StartAsync(surroundings, "backend", [Path.Combine(folder, "www")], cancellationToken));
        var nginx = await NginxServer.StartBackendAsync(surroundings, folder, cancellationToken);
        try
        {
            return new Backend(nginx, await NginxServer.StartProxyAsync(surroundings, nginx, cancellationToken));
        }
        catch
        {
            await nginx.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Proxy is not null)
            await Proxy.DisposeAsync();
        if (_nginx is not null)
            await _nginx.DisposeAsync();
        if (_bare is not null)
            await _bare.DisposeAsync();
    }
}
