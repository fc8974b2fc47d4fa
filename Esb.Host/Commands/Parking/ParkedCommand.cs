using System.CommandLine;

namespace Esb.Host.Commands.Parking;

/// <summary><c>esb parked list|show|release|discard</c></summary>
internal sealed class ParkedCommand : Command
{
    public ParkedCommand(CommandContext context)
        : base("parked", "Shows messages that wait behind one that failed, and lets them go on or gives them up.")
    {
        Add(new ListParkedCommand(context));
        Add(new ShowParkedCommand(context));
        Add(new ReleaseParkedCommand(context));
        Add(new DiscardParkedCommand(context));
    }
}
