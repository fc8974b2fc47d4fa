using System.CommandLine;

namespace Esb.Host.Commands;

/// <summary>A command that is designed, but that this version cannot do.</summary>
internal sealed class UnavailableCommand : Command
{
    public UnavailableCommand(string name)
        : base(name, "Designed, but this version cannot do it yet.")
    {
        Hidden = true;
        TreatUnmatchedTokensAsErrors = false;
        SetAction((Func<ParseResult, int>)(_ => throw new CommandException(ExitCode.Usage, "ESB-CLI-UNAVAILABLE", $"'{name}' is designed, but this version cannot do it yet.")));
    }
}
