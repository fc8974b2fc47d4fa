using System.CommandLine;

namespace Esb.Host.Commands.Logging;

/// <summary><c>esb log list|set</c></summary>
internal sealed class LogCommand : Command
{
    public LogCommand(CommandContext context)
        : base("log", "Shows from which level on a running host logs, and changes it while it works.")
    {
        Add(new ListLevelsCommand(context));
        Add(new SetLevelCommand(context));
    }
}
