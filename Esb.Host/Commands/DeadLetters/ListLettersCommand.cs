using System.CommandLine;
using Esb.Core.Storage;
using Esb.Host.Commands.Audit;
using Esb.Host.Management;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.DeadLetters;

/// <summary><c>esb dead-letters list</c></summary>
internal sealed class ListLettersCommand : Command
{
    private static readonly string[] Header = ["ID", "LAST TRIED", "STATE", "ENDPOINT", "SUBJECT", "KEY", "ATTEMPTS", "CODE", "REASON"];

    private readonly Option<int> _limit = new Option<int>("--limit")
    {
        Description = "How many at most.",
        DefaultValueFactory = _ => 100,
    }.Within(1, 1_000);
    private readonly LetterOptions _options;
    private readonly ListOutput _list;
    private readonly SearchOptions _search;

    public ListLettersCommand(CommandContext context)
        : base("list", "Lists dead letters, the newest first; open ones where no state, message or job is named.")
    {
        _options = new LetterOptions(this);
        Add(_limit);
        _list = new ListOutput(this);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
    }

    private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var query = new DeadLetterQuery { Filter = _options.OpenFilterOf(result).ToFilter(), Limit = result.GetValue(_limit) };
        var letters = await _search.ReadAsync<IReadOnlyList<DeadLetterView>>(
            result,
            context,
            async store =>
                await store.DeadLetters.FindAsync(query, cancellationToken).Select(DeadLetterView.Of).ToListAsync(cancellationToken),
            async host =>
                (
                    await host.GetAsync<Page<DeadLetterView>>(
                        $"api/dead-letters?limit={query.Limit}&{LetterOptions.QueryOf(_options.OpenFilterOf(result))}",
                        cancellationToken
                    )
                ).Items
        );
        if (_list.TryWrite(result, context, letters))
            return ExitCode.Done;
        if (letters.Count == 0)
            context.Error.WriteLine(_options.AreGiven(result.CommandResult) ? "No dead letter matches." : "There are no dead letters.");
        else
            TextTable.Write(context.Output, letters.Select(Row).Prepend(Header));
        return ExitCode.Done;
    }

    private static string[] Row(DeadLetterView letter) =>
        [
            letter.Id.ToString(),
            letter.LastAttempt.ToString("yyyy-MM-dd HH:mm:sszzz"),
            CommandJson.NameOf(letter.State),
            letter.Endpoint,
            letter.Subject,
            letter.Key ?? "-",
            $"{letter.Attempts}",
            letter.Code,
            letter.Reason.ReplaceLineEndings(" "),
        ];
}
