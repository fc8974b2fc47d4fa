using System.CommandLine;

namespace Esb.Host.Commands;

/// <summary>A planned command that this version does not implement.</summary>
internal sealed class UnavailableCommand : Command
{
    public UnavailableCommand(string name)
        : base(name, "Designed, but this version cannot do it yet.")
    {
        Hidden = true;
        TreatUnmatchedTokensAsErrors = false;
        SetAction(
            (Func<ParseResult, int>)(
                _ =>
                    throw new CommandException(
                        ExitCode.Usage,
                        "ESB-CLI-UNAVAILABLE",
                        $"'{name}' is designed, but this version cannot do it yet."
                    )
            )
        );
    }
}
