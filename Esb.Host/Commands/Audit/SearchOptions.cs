using System.CommandLine;
using Esb.Host.Composition;
using Esb.Storage;

namespace Esb.Host.Commands.Audit;

/// <summary>The options that select the search source: a running host, or with <c>--config</c> the store itself.</summary>
internal sealed class SearchOptions
{
    private readonly Option<string?> _config = new("--config")
    {
        Description = "Reads the store of this configuration, instead of asking a host.",
    };
    private readonly HostOptions _host;

    public SearchOptions(Command command)
    {
        _host = new HostOptions(command);
        command.Add(_config);
    }

    public Task<T> SearchAsync<T>(ParseResult result, CommandContext context, Func<IMessageSearch, Task<T>> search) =>
        ReadAsync(result, context, store => search(new StoreSearch(store.Audit)), search);

    /// <summary>Runs a search in either source, with the same result.</summary>
    public async Task<T> ReadAsync<T>(
        ParseResult result,
        CommandContext context,
        Func<StoreReader, Task<T>> fromStore,
        Func<ManagementClient, Task<T>> fromHost
    )
    {
        if (result.GetValue(_config) is { } path)
        {
            await using var store = BusServices.FindStore(path, context.Variables, context.Services()).Read();
            return await fromStore(store);
        }

        using var client = _host.Connect(result, context);
        return await fromHost(client);
    }
}
