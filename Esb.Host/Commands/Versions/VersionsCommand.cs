using System.CommandLine;

namespace Esb.Host.Commands.Versions;

/// <summary><c>esb versions</c></summary>
internal sealed class VersionsCommand : Command
{
    public VersionsCommand(CommandContext context)
        : base("versions", "Shows the versions of the configuration that a running host keeps.")
    {
        Add(new ListVersionsCommand(context));
        Add(new ShowVersionCommand(context));
        Add(new DiffVersionsCommand(context));
    }

    /// <summary>An argument for the number of a version.</summary>
    public static Argument<long> Number(string name, string description)
    {
        var argument = new Argument<long>(name) { Description = description };
        argument.Validators.Add(result =>
        {
            if (result.Tokens is [var token] && (!long.TryParse(token.Value, out var number) || number < 1))
                result.AddError($"{name}: expected the number of a version, from 1.");
        });
        return argument;
    }
}
