using System.CommandLine;
using Esb.Host.Management;

namespace Esb.Host.Commands.Audit;

/// <summary><c>esb audit erase ID --reason "…"</c></summary>
internal sealed class AuditEraseCommand : Command
{
    private readonly Argument<Guid> _id = new("id") { Description = "The id of a message." };
    private readonly Option<string> _reason = new("--reason") { Description = "Why, for the record.", Required = true };
    private readonly HostOptions _host;

    public AuditEraseCommand(CommandContext context)
        : base("erase", "Erases what is recorded of a message's body. Its facts stay, and their chains hold.")
    {
        Add(_id);
        Add(_reason);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => EraseAsync(result, context, cancellationToken));
    }

    private async Task<int> EraseAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var receipt = await client.PostAsync<EraseReceipt>(
            $"api/messages/{result.GetValue(_id)}/erase",
            new EraseBody { Reason = result.GetRequiredValue(_reason) },
            cancellationToken
        );
        var unknown = receipt.IsKnown ? "" : "nothing is recorded of this message yet; ";
        context.Output.WriteLine($"{receipt.Erased} bodies erased; {unknown}those that still wait on a host are erased as they arrive");
        return ExitCode.Done;
    }
}
