using System.CommandLine;

namespace Esb.Host.Commands;

/// <summary><c>esb audit find|show|replay</c></summary>
internal sealed class AuditCommand : Command
{
    public AuditCommand(CommandContext context)
        : base("audit", "Finds what is recorded of messages, and sends recorded messages again.")
    {
        Add(new AuditFindCommand(context));
        Add(new AuditShowCommand(context));
        Add(new AuditReplayCommand(context));
        Add(new UnavailableCommand("verify"));
        Add(new UnavailableCommand("archive"));
    }
}
