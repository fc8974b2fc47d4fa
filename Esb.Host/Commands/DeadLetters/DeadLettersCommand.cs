using System.CommandLine;

namespace Esb.Host.Commands.DeadLetters;

/// <summary><c>esb dead-letters list|groups|show|replay|discard</c></summary>
internal sealed class DeadLettersCommand : Command
{
    public DeadLettersCommand(CommandContext context)
        : base("dead-letters", "Shows messages that could not be delivered, and sends them again or gives them up.")
    {
        Add(new ListLettersCommand(context));
        Add(new GroupLettersCommand(context));
        Add(new ShowLetterCommand(context));
        Add(new ReplayLettersCommand(context));
        Add(new DiscardLettersCommand(context));
    }
}
