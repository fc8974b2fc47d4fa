using System.CommandLine;
using System.CommandLine.Parsing;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.DeadLetters;

/// <summary>The dead letters that a command changes: by id, by filter options, or all. An omitted argument never selects all.</summary>
internal sealed class LetterSelection
{
    private readonly Argument<Guid[]> _ids = new("id")
    {
        Description = "The ids of dead letters; none where options say which.",
        Arity = ArgumentArity.ZeroOrMore,
        CustomParser = ParseIds,
    };
    private readonly Option<bool> _all = new("--all") { Description = "All open ones." };
    private readonly LetterOptions _options;

    public LetterSelection(Command command)
    {
        command.Add(_ids);
        _options = new LetterOptions(command);
        command.Add(_all);
        command.Validators.Add(result =>
        {
            var ids = result.GetResult(_ids) is { Tokens.Count: > 0 };
            if (!ids && !_options.AreGiven(result) && !result.GetValue(_all))
                result.AddError("expected ids, options that say which, or --all");
        });
    }

    /// <summary>The ids and the filter, for a request body.</summary>
    public (IReadOnlyList<Guid>? Ids, FilterBody? Filter) Of(ParseResult result) =>
        (
            result.GetValue(_ids) is { Length: > 0 } ids ? ids : null,
            result.GetValue(_all) || _options.AreGiven(result.CommandResult) ? _options.FilterOf(result) : null
        );

    // An invalid id must not be dropped: the remaining selection would have another meaning.
    private static Guid[] ParseIds(ArgumentResult result)
    {
        var ids = new List<Guid>();
        foreach (var token in result.Tokens)
        {
            if (Guid.TryParse(token.Value, out var id))
                ids.Add(id);
            else
                result.AddError($"expected the id of a dead letter, not '{token.Value}'");
        }

        return [.. ids];
    }
}
