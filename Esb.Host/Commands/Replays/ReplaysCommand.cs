using System.CommandLine;

namespace Esb.Host.Commands.Replays;

/// <summary><c>esb replays list|show|pause|resume|cancel</c></summary>
internal sealed class ReplaysCommand : Command
{
    public ReplaysCommand(CommandContext context)
        : base("replays", "Shows the jobs that send dead letters again, and holds them up.")
    {
        Add(new ListReplaysCommand(context));
        Add(new ShowReplayCommand(context));
        Add(new ChangeReplayCommand("pause", "Pauses a job; it keeps its letters.", context));
        Add(new ChangeReplayCommand("resume", "Resumes a paused or stopped job.", context));
        Add(new ChangeReplayCommand("cancel", "Ends a job; the letters that were not sent are open again.", context));
    }
}
