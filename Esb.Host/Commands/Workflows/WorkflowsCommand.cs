using System.CommandLine;

namespace Esb.Host.Commands.Workflows;

/// <summary><c>esb workflows list|show|history|retry|skip|terminate|fire|migrate</c></summary>
internal sealed class WorkflowsCommand : Command
{
    public WorkflowsCommand(CommandContext context)
        : base("workflows", "Shows instances of workflows, and retries, skips or ends those that an operator has to decide on.")
    {
        Add(new ListWorkflowsCommand(context));
        Add(new ShowWorkflowCommand(context));
        Add(new WorkflowHistoryCommand(context));
        Add(new WorkflowActionCommand("retry", "Runs suspended instances on from the step that failed.", context));
        Add(new WorkflowActionCommand("skip", "Runs suspended instances on behind the step that failed.", context));
        Add(new WorkflowActionCommand("terminate", "Ends instances, and the instances that they run.", context, ends: true));
        Add(new WorkflowActionCommand("fire", "Ends the times for which instances wait, as if they were over.", context));
        Add(new MigrateWorkflowsCommand(context));
    }
}
