using System.CommandLine;
using System.CommandLine.Help;

namespace Esb.Host.Commands.Documents;

/// <summary>The reference of the command line.</summary>
internal static class CommandPage
{
    public static string Write(RootCommand root) =>
        MarkdownPage.Write(
            "Commands",
            "How the command line finds a host and what it returns: [the command line](../operate/command-line.md), "
                + "[exit codes](exit-codes.md). Every command has `--help`; `esb --version` prints the release.",
            Leaves(root, "esb", []).SelectMany(Section)
        );

    // Options of a group that are recursive hold for the commands in it.
    private static IEnumerable<(string Path, Command Command, IEnumerable<Option> Options)> Leaves(
        Command command,
        string path,
        IReadOnlyList<Option> inherited
    ) =>
        command.Subcommands.Count == 0
            ? [(path, command, inherited.Concat(command.Options))]
            : command
                .Subcommands.Where(inner => !inner.Hidden)
                .OrderBy(inner => inner.Name, StringComparer.Ordinal)
                .SelectMany(inner =>
                    Leaves(inner, $"{path} {inner.Name}", [.. inherited, .. command.Options.Where(option => option.Recursive)])
                );

    private static IEnumerable<string> Section((string Path, Command Command, IEnumerable<Option> Options) leaf)
    {
        var (path, command, all) = leaf;
        yield return "";
        yield return $"## {path}";
        yield return "";
        yield return MarkdownPage.Cell(command.Description);
        var arguments = command.Arguments.Where(argument => !argument.Hidden).ToList();
        var options = all.Where(option => !option.Hidden && option is not HelpOption)
            .OrderBy(option => option.Name, StringComparer.Ordinal)
            .ToList();
        if (arguments.Count + options.Count == 0)
            yield break;
        yield return "";
        yield return "| Argument or option | Meaning |";
        yield return "| --- | --- |";
        foreach (var argument in arguments)
            yield return $"| `{NameOf(argument)}` | {MarkdownPage.Cell(argument.Description)} |";
        foreach (var option in options)
            yield return $"| `{string.Join("`, `", option.Aliases.Order(StringComparer.Ordinal).Prepend(option.Name))}` | "
                + $"{MarkdownPage.Cell(option.Description)}{(option.Required ? " Required." : "")} |";
    }

    private static string NameOf(Argument argument)
    {
        var name = argument.Name.ToUpperInvariant();
        if (argument.Arity.MaximumNumberOfValues > 1)
            name += "…";
        return argument.Arity.MinimumNumberOfValues == 0 ? $"[{name}]" : name;
    }
}
