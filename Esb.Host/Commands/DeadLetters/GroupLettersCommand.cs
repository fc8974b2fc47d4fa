using System.CommandLine;
using Esb.Core.Storage;
using Esb.Host.Commands.Audit;
using Esb.Host.Management;

namespace Esb.Host.Commands.DeadLetters;

/// <summary><c>esb dead-letters groups</c></summary>
internal sealed class GroupLettersCommand : Command
{
    private readonly Option<bool> _byCause = new("--by-cause") { Description = "Groups by the beginning of their reasons, too." };
    private readonly LetterOptions _options;
    private readonly ListOutput _list;
    private readonly SearchOptions _search;

    public GroupLettersCommand(CommandContext context)
        : base("groups", "Counts dead letters by endpoint and code, the largest group first; open ones where no state is named.")
    {
        _options = new LetterOptions(this);
        Add(_byCause);
        _list = new ListOutput(this);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => GroupAsync(result, context, cancellationToken));
    }

    private async Task<int> GroupAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var filter = _options.FilterOf(result).ToFilter();
        var byCause = result.GetValue(_byCause);
        var groups = await _search.ReadAsync(
            result,
            context,
            store => store.DeadLetters.GroupAsync(filter with { State = filter.State ?? DeadLetterState.Open }, byCause, cancellationToken),
            async host =>
                (
                    await host.GetAsync<Page<DeadLetterGroup>>(
                        $"api/dead-letters/groups?by={(byCause ? "cause" : "code")}&{_options.QueryOf(result)}",
                        cancellationToken
                    )
                ).Items
        );
        if (_list.TryWrite(result, context, groups))
            return ExitCode.Done;
        LetterGroups.Write(groups, context);
        return ExitCode.Done;
    }
}
