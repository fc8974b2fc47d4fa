using System.CommandLine;

namespace Esb.Host.Commands.Workflows;

/// <summary><c>esb workflows list|show|history|retry|skip|terminate|fire</c></summary>
internal sealed class WorkflowsCommand : Command
{
    public WorkflowsCommand(CommandContext context)
        : base("workflows", "Shows instances of workflows, and retries, skips or ends those that an operator has to decide on.")
    {
        Add(new ListWorkflowsCommand(context));
        Add(new ShowWorkflowCommand(context));
        Add(new WorkflowHistoryCommand(context));
        Add(new WorkflowActionCommand("retry", "Runs a suspended instance on from the step that failed.", context));
        Add(new WorkflowActionCommand("skip", "Runs a suspended instance on behind the step that failed.", context));
        Add(new WorkflowActionCommand("terminate", "Ends an instance, and the instances that it runs.", context, ends: true));
        Add(new WorkflowActionCommand("fire", "Ends the times for which an instance waits, as if they were over.", context));
    }
}
