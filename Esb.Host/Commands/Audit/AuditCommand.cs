using System.CommandLine;

namespace Esb.Host.Commands.Audit;

/// <summary><c>esb audit find|show|replay|verify|archive|erase</c></summary>
internal sealed class AuditCommand : Command
{
    public AuditCommand(CommandContext context)
        : base("audit", "Finds what is recorded of messages, and sends recorded messages again.")
    {
        Add(new AuditFindCommand(context));
        Add(new AuditShowCommand(context));
        Add(new AuditReplayCommand(context));
        Add(new AuditVerifyCommand(context));
        Add(new AuditArchiveCommand(context));
        Add(new AuditEraseCommand(context));
    }
}
