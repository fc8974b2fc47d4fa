using System.CommandLine;
using Esb.Host.Management.Workflows;

namespace Esb.Host.Commands.Workflows;

/// <summary><c>esb workflows retry|skip|terminate|fire ID</c></summary>
internal sealed class WorkflowActionCommand : Command
{
    private readonly Argument<Guid> _id = new("id") { Description = "The instance." };
    private readonly Option<string?> _reason;
    private readonly Option<bool> _compensate = new("--compensate") { Description = "Undoes the completed scopes, the last one first." };
    private readonly HostOptions _host;

    public WorkflowActionCommand(string action, string description, CommandContext context, bool ends = false)
        : base(action, description)
    {
        _reason = new Option<string?>("--reason") { Description = "Why, for the record.", Required = ends };
        Add(_id);
        Add(_reason);
        if (ends)
            Add(_compensate);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ActAsync(result, action, ends, context, cancellationToken));
    }

    private async Task<int> ActAsync(
        ParseResult result,
        string action,
        bool ends,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        using var client = _host.Connect(result, context);
        var body = new WorkflowActionBody { Reason = result.GetValue(_reason), Compensate = ends && result.GetValue(_compensate) };
        var instance = await client.PostAsync<WorkflowInstanceView>(
            $"api/workflows/{result.GetRequiredValue(_id)}/{action}",
            body,
            cancellationToken
        );
        context.Output.WriteLine(
            $"{instance.Id} of {instance.Workflow} is "
                + $"{instance.State.ToString().ToLowerInvariant()}{(instance.Step.Length == 0 ? "" : $" at {instance.Step}")}"
        );
        return ExitCode.Done;
    }
}
