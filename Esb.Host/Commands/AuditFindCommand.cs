using System.CommandLine;
using System.Text.Json;
using Esb.Host.Management;

namespace Esb.Host.Commands;

/// <summary><c>esb audit find --where name=value</c></summary>
internal sealed class AuditFindCommand : Command
{
    private const int MaxLimit = 1_000;

    private readonly Option<string[]> _where = new Option<string[]>("--where") { Description = "A field and its value, such as order=A-1001; several must all hold.", HelpName = "name=value" }.AsPairs();
    private readonly Option<string?> _endpoint = new("--endpoint") { Description = "The endpoint where it happened." };
    private readonly Option<int> _limit = new Option<int>("--limit") { Description = "How many at most.", DefaultValueFactory = _ => 100 }.Within(1, MaxLimit);
    private readonly SearchOptions _search;

    public AuditFindCommand(CommandContext context)
        : base("find", "Lists what happened, the newest first.")
    {
        Add(_where);
        Add(_endpoint);
        Add(_limit);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => FindAsync(result, context, cancellationToken));
    }

    private async Task<int> FindAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var where = (result.GetValue(_where) ?? []).Select(pair => pair.Split('=', 2)).ToDictionary(pair => pair[0], pair => pair[1]);
        var query = new MessageQuery(where, result.GetValue(_endpoint), result.GetValue(_limit));
        var facts = await _search.SearchAsync(result, context, search => search.FindAsync(query, cancellationToken));
        if (facts.Count == 0) context.Error.WriteLine("Nothing is recorded of that.");
        TextTable.Write(context.Output, facts.Select(Row));
        return ExitCode.Done;
    }

    private static string[] Row(AuditFactView fact) =>
    [
        fact.Time.ToString("yyyy-MM-dd HH:mm:ss.fffzzz"),
        JsonNamingPolicy.KebabCaseLower.ConvertName(fact.Kind.ToString()),
        fact.MessageId.ToString(),
        fact.Endpoint ?? fact.Process ?? "-",
        fact.Name ?? fact.Subject ?? "-",
        string.Join(' ', fact.Fields.Select(field => $"{field.Key}={field.Value}").Prepend(fact.Code).Where(text => text is not null)),
    ];
}
