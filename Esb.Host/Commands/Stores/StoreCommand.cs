using System.CommandLine;

namespace Esb.Host.Commands.Stores;

/// <summary><c>esb store reencrypt</c></summary>
internal sealed class StoreCommand : Command
{
    public StoreCommand(CommandContext context)
        : base("store", "Works on the store of a running host.") => Add(new ReencryptCommand(context));
}
