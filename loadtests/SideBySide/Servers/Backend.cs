using SideBySide.Bare;

namespace SideBySide.Servers;

/// <summary>What answers behind every side: nginx, or, where that is missing, a server of our own.</summary>
internal sealed class Backend : IAsyncDisposable
{
    private readonly NginxServer? _nginx;
    private readonly BareServer? _bare;

    private Backend(NginxServer? nginx, BareServer? bare) => (_nginx, _bare) = (nginx, bare);

    public string Url => _nginx?.Backend ?? _bare!.Url;

    /// <summary>The proxy before it that is the limit; null where nginx is missing.</summary>
    public NginxServer? Nginx => _nginx;

    /// <param name="folder">With the documents in <c>www</c>.</param>
    public static async Task<Backend> StartAsync(Surroundings surroundings, string folder, CancellationToken cancellationToken) =>
        Surroundings.HasProgram("nginx")
            ? new Backend(await NginxServer.StartAsync(surroundings, folder, cancellationToken), null)
            : new Backend(null, await BareServer.StartAsync(surroundings, "backend", [Path.Combine(folder, "www")], cancellationToken));

    public ValueTask DisposeAsync() => _nginx?.DisposeAsync() ?? _bare!.DisposeAsync();
}
