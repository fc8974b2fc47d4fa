using System.CommandLine;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Host.Commands.Audit;
using Esb.Host.Management;
using Esb.Host.Management.Parking;

namespace Esb.Host.Commands.Parking;

/// <summary><c>esb parked list</c></summary>
internal sealed class ListParkedCommand : Command
{
    private static readonly string[] Header = ["ENDPOINT", "LINE", "COUNT", "SINCE", "DUE", "CODE", "REASON"];

    private readonly Option<string?> _endpoint = new("--endpoint") { Description = "The endpoint." };
    private readonly Option<int> _limit = new Option<int>("--limit")
    {
        Description = "How many at most.",
        DefaultValueFactory = _ => 100,
    }.Within(1, 1_000);
    private readonly ListOutput _list;
    private readonly SearchOptions _search;

    public ListParkedCommand(CommandContext context)
        : base("list", "Lists the keys whose messages wait, and the endpoints that stand at a message; the longest waiting first.")
    {
        Add(_endpoint);
        Add(_limit);
        _list = new ListOutput(this);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
    }

    private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var (endpoint, limit) = (result.GetValue(_endpoint), result.GetValue(_limit));
        var lines = await _search.ReadAsync<IReadOnlyList<WaitingLineView>>(
            result,
            context,
            async store => [.. (await store.Parking.ListAsync(endpoint, null, limit, cancellationToken)).Select(LineOf)],
            async host =>
                (
                    await host.GetAsync<Page<WaitingLineView>>(
                        $"api/parked?limit={limit}{(endpoint is null ? "" : $"&endpoint={Uri.EscapeDataString(endpoint)}")}",
                        cancellationToken
                    )
                ).Items
        );
        if (_list.TryWrite(result, context, lines))
            return ExitCode.Done;
        if (lines.Count == 0)
            context.Error.WriteLine("Nothing waits.");
        else
            TextTable.Write(context.Output, lines.Select(Row).Prepend(Header));
        return ExitCode.Done;
    }

    private static WaitingLineView LineOf(ParkedKey key) =>
        WaitingLineView.Of(new WaitingLine(key.Endpoint, key.Key, key.Count, key.Since, key.DueAt, key.Failure));

    private static string[] Row(WaitingLineView line) =>
        [
            line.Endpoint,
            line.Line,
            $"{line.Count}",
            line.Since.ToString("yyyy-MM-dd HH:mm:sszzz"),
            line.DueAt?.ToString("yyyy-MM-dd HH:mm:sszzz") ?? "-",
            line.Failure?.Code ?? "-",
            line.Failure?.Reason.ReplaceLineEndings(" ") ?? "",
        ];
}
