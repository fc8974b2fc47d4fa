using System.CommandLine;
using System.CommandLine.Parsing;
using Esb.Configuration;

namespace Esb.Host.Commands;

/// <summary>Prints the errors of a command line: each in one line with a suggested correction, then the command that shows the
/// usage.</summary>
internal static class UsageErrors
{
    public static int Report(ParseResult result, TextWriter error)
    {
        foreach (var found in result.Errors.Where(found => !IsEcho(found, result)).DistinctBy(found => found.Message))
            error.WriteLine($"ESB-CLI-USAGE {Describe(found, result)}");
        error.WriteLine($"See {PathOf(result)} --help.");
        return ExitCode.Usage;
    }

    private static string PathOf(ParseResult result)
    {
        var path = new List<string>();
        for (var command = result.CommandResult; command.Parent is CommandResult parent; command = parent)
            path.Insert(0, command.Command.Name);
        return string.Join(' ', path.Prepend("esb"));
    }

    private static string Describe(ParseError found, ParseResult result)
    {
        var name =
            found.SymbolResult is ArgumentResult argument && !found.Message.Contains(argument.Argument.Name, StringComparison.Ordinal)
                ? $" ({argument.Argument.Name})"
                : "";
        return found.Message.TrimEnd('.') + name + Hint(found, result);
    }

    // The parser also reports an unknown command as a missing one; a single line is clearer.
    private static bool IsEcho(ParseError found, ParseResult result) =>
        result.UnmatchedTokens.Count > 0
        && found.SymbolResult is CommandResult { Command.Subcommands.Count: > 0 }
        && Unmatched(found, result) is null;

    private static string? Unmatched(ParseError found, ParseResult result) =>
        result.UnmatchedTokens.FirstOrDefault(token => found.Message.Contains($"'{token}'", StringComparison.Ordinal));

    private static string Hint(ParseError found, ParseResult result)
    {
        var unmatched = Unmatched(found, result);
        return unmatched is null ? "" : NearestName.Hint(unmatched, NamesOf(result));
    }

    private static IEnumerable<string> NamesOf(ParseResult result) =>
        result
            .CommandResult.Command.Children.Concat(result.RootCommandResult.Command.Options.Where(option => option.Recursive))
            .Where(symbol => !symbol.Hidden && symbol is not Argument)
            .Select(symbol => symbol.Name);
}
