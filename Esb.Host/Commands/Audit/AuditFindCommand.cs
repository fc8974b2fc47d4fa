using System.CommandLine;
using Esb.Host.Management.Messages;

namespace Esb.Host.Commands.Audit;

/// <summary><c>esb audit find [options] [--before KEY] [--json]</c></summary>
internal sealed class AuditFindCommand : Command
{
    private static readonly string[] Header = ["TIME", "KIND", "MESSAGE", "WHERE", "SUBJECT", "DETAILS"];

    private readonly Option<Guid?> _before = new("--before") { Description = "The next page: what the page before named at its end." };
    private readonly Option<int> _limit = new Option<int>("--limit")
    {
        Description = "How many at most.",
        DefaultValueFactory = _ => MessageParameters.DefaultLimit,
    }.Within(1, MessageParameters.MaxLimit);
    private readonly Option<bool> _json = new("--json") { Description = "Writes them as JSON, with the key of the next page." };
    private readonly FactOptions _facts;
    private readonly SearchOptions _search;

    public AuditFindCommand(CommandContext context)
        : base("find", "Lists what happened, the newest first.")
    {
        _facts = new FactOptions(this);
        Add(_before);
        Add(_limit);
        Add(_json);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => FindAsync(result, context, cancellationToken));
    }

    private async Task<int> FindAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var query = _facts.QueryOf(result) with { Before = result.GetValue(_before), Limit = result.GetValue(_limit) };
        var page = await _search.SearchAsync(result, context, search => search.FindAsync(query, cancellationToken));
        if (result.GetValue(_json))
        {
            context.Output.WriteLine(CommandJson.Write(page));
            return ExitCode.Done;
        }

        if (page.Items.Count == 0)
            context.Error.WriteLine("Nothing is recorded of that.");
        else
            TextTable.Write(context.Output, page.Items.Select(Row).Prepend(Header));
        if (page.Next is not null)
            context.Error.WriteLine($"There may be more: --before {page.Next}");
        return ExitCode.Done;
    }

    private static string[] Row(AuditFactView fact) =>
        [
            fact.Time.ToString("yyyy-MM-dd HH:mm:ss.fffzzz"),
            CommandJson.NameOf(fact.Kind),
            fact.MessageId.ToString(),
            fact.Endpoint ?? fact.Process ?? "-",
            fact.Name ?? fact.Subject ?? "-",
            string.Join(
                ' ',
                fact.Fields.Select(field => $"{field.Key}={field.Value}")
                    .Prepend(fact.Code)
                    .Append(fact.Reason?.ReplaceLineEndings(" "))
                    .Where(text => text is not null)
            ),
        ];
}
