using System.CommandLine;
using Esb.Host.Management.Workflows;

namespace Esb.Host.Commands.Workflows;

/// <summary><c>esb workflows show ID</c></summary>
internal sealed class ShowWorkflowCommand : Command
{
    private readonly Argument<Guid> _id = new("id") { Description = "The instance." };
    private readonly HostOptions _host;

    public ShowWorkflowCommand(CommandContext context)
        : base("show", "Shows an instance with its variables and waits, as JSON.")
    {
        Add(_id);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        context.Output.WriteLine(
            CommandJson.Write(
                await client.GetAsync<WorkflowInstanceView>($"api/workflows/{result.GetRequiredValue(_id)}", cancellationToken)
            )
        );
        return ExitCode.Done;
    }
}
