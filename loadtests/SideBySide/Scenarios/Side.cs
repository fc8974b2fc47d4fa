using SideBySide.Measuring;
using SideBySide.Targets;

namespace SideBySide.Scenarios;

/// <summary>A server of a peer, or why there is none.</summary>
internal sealed class Side<TServer>(string name, TServer? server, string? reason) : IAsyncDisposable
    where TServer : class, IAsyncDisposable
{
    /// <summary>A side of a row: measured where the server runs, otherwise saying why not.</summary>
    public ITarget Target(Func<TServer, ITarget> make) => server is null ? new MissingTarget(name, reason!) : make(server);

    public ValueTask DisposeAsync() => server?.DisposeAsync() ?? ValueTask.CompletedTask;
}

internal static class Side
{
    public static async Task<Side<TServer>> TryAsync<TServer>(string name, Func<Task<TServer>> start)
        where TServer : class, IAsyncDisposable
    {
        try
        {
            return new Side<TServer>(name, await start(), null);
        }
        catch (NotRunException missing)
        {
            return new Side<TServer>(name, null, missing.Message);
        }
    }
}
