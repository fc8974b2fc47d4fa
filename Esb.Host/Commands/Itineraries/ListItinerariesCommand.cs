using System.CommandLine;
using System.Text.Json;
using Esb.Host.Management;
using Esb.Host.Management.Itineraries;

namespace Esb.Host.Commands.Itineraries;

/// <summary><c>esb itineraries list</c></summary>
internal sealed class ListItinerariesCommand : Command
{
    private static readonly string[] Header = ["MESSAGE", "ITINERARY", "STOP", "STATE", "CHANGED", "CODE"];

    private readonly Option<string?> _name = new("--itinerary") { Description = "The itinerary." };
    private readonly Option<string?> _state = new("--state") { Description = "The state, such as waiting or compensated." };
    private readonly Option<string?> _stop = new("--stop") { Description = "The stop at which they wait, or which they reached last." };
    private readonly Option<string?> _after = new("--after") { Description = "The last message of the page before." };
    private readonly Option<int> _limit = new Option<int>("--limit")
    {
        Description = "How many at most.",
        DefaultValueFactory = _ => 50,
    }.Within(1, 1_000);
    private readonly ListOutput _list;
    private readonly HostOptions _host;

    public ListItinerariesCommand(CommandContext context)
        : base("list", "Lists messages, newest first.")
    {
        foreach (var option in new[] { _name, _state, _stop, _after })
            Add(option);
        Add(_limit);
        _list = new ListOutput(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
    }

    private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var filters = new[] { ("name", _name), ("state", _state), ("stop", _stop), ("after", _after) }
            .Where(filter => result.GetValue(filter.Item2) is not null)
            .Select(filter => $"&{filter.Item1}={Uri.EscapeDataString(result.GetValue(filter.Item2)!)}");
        var page = await client.GetAsync<Page<ItineraryView>>(
            $"api/itineraries?limit={result.GetValue(_limit)}{string.Concat(filters)}",
            cancellationToken
        );
        if (_list.TryWrite(result, context, page))
            return ExitCode.Done;
        if (page.Items.Count == 0)
            context.Error.WriteLine("There are no such messages.");
        else
            TextTable.Write(context.Output, page.Items.Select(Row).Prepend(Header));
        if (page.Next is { } next)
            context.Error.WriteLine($"There are more: --after {next}");
        return ExitCode.Done;
    }

    private static string[] Row(ItineraryView message) =>
        [
            message.MessageId.ToString(),
            message.Itinerary,
            message.Stop,
            JsonNamingPolicy.KebabCaseLower.ConvertName(message.State.ToString()),
            message.ChangedAt.ToString("yyyy-MM-dd HH:mm:sszzz"),
            message.Code ?? "-",
        ];
}
