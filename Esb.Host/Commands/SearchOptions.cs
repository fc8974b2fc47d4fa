using System.CommandLine;
using Esb.Host.Composition;
using Esb.Storage;

namespace Esb.Host.Commands;

/// <summary>Where a command searches: at a running host, or with <c>--config</c> in the store itself.</summary>
internal sealed class SearchOptions
{
    private readonly Option<string?> _config = new("--config") { Description = "Reads the store of this configuration, instead of asking a host." };
    private readonly HostOptions _host;

    public SearchOptions(Command command)
    {
        _host = new HostOptions(command);
        command.Add(_config);
    }

    public async Task<T> SearchAsync<T>(ParseResult result, CommandContext context, Func<IMessageSearch, Task<T>> search)
    {
        if (result.GetValue(_config) is { } path)
        {
            await using var store = StoreReader.Open(BusServices.Read(path, context.Variables, context.Services()));
            return await search(new StoreSearch(store.Audit));
        }

        using var client = _host.Connect(result, context);
        return await search(client);
    }
}
