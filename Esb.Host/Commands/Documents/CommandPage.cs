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
                + "[exit codes](exit-codes.md).",
            Leaves(root, "esb").SelectMany(Section)
        );

    private static IEnumerable<(string Path, Command Command)> Leaves(Command command, string path) =>
        command.Subcommands.Count == 0
            ? [(path, command)]
            : command
                .Subcommands.Where(inner => !inner.Hidden)
                .OrderBy(inner => inner.Name, StringComparer.Ordinal)
                .SelectMany(inner => Leaves(inner, $"{path} {inner.Name}"));

    private static IEnumerable<string> Section((string Path, Command Command) leaf)
    {
        var (path, command) = leaf;
        yield return "";
        yield return $"## {path}";
        yield return "";
        yield return MarkdownPage.Cell(command.Description);
        var arguments = command.Arguments.Where(argument => !argument.Hidden).ToList();
        var options = command
            .Options.Where(option => !option.Hidden && option is not HelpOption)
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
