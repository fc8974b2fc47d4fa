using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Workflows.Engine;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Workflows.Entries;

/// <summary>Starts an instance with the message. It ends with the first checkpoint, or with the answer, which any host may give.</summary>
internal sealed class WorkflowEntryStep : StepFactory<WorkflowEntry>
{
    public const string Name = "workflow";

    // The endpoint ends the wait by its own timeout, with its own code.
    private static readonly TimeSpan Margin = TimeSpan.FromSeconds(5);

    public override string Kind => Name;

    protected override StepModel Compile(WorkflowEntry entry, StepConfig step, IStepCompiler compiler) =>
        new(step, $"workflow({entry.Workflow})")
        {
            Traits = new StepTraits
            {
                LeavesFacts = true,
                ReplacesBody = entry.AnswerWithin is not null,
                Accepts = true,
            },
            Bind = services =>
            {
                var engine = services.GetRequiredService<WorkflowEngine>();
                if (entry.AnswerWithin is not { } timeout)
                    return (context, cancellationToken) => StartAsync(engine, entry.Workflow, context, cancellationToken);
                var replies = services.GetRequiredService<IReplyAddresses>();
                return (context, cancellationToken) => AskAsync(engine, replies, entry.Workflow, timeout, context, cancellationToken);
            },
        };

    private static async ValueTask StartAsync(
        WorkflowEngine engine,
        string workflow,
        MessageContext context,
        CancellationToken cancellationToken
    )
    {
        await context.Message.Body.BufferAsync(InstanceVariables.LargestSum, cancellationToken);
        var start = await engine.StartAsync(workflow, context.Message, replyAddress: null, cancellationToken);
        context.Outcome = start == WorkflowStart.Ignored ? ProcessOutcome.Filtered : ProcessOutcome.Held; // the store keeps it
    }

    private static async ValueTask AskAsync(
        WorkflowEngine engine,
        IReplyAddresses replies,
        string workflow,
        TimeSpan timeout,
        MessageContext context,
        CancellationToken cancellationToken
    )
    {
        await context.Message.Body.BufferAsync(InstanceVariables.LargestSum, cancellationToken);
        using var reply = await replies.AwaitAsync(context.Message, timeout + Margin, cancellationToken);
        switch (await engine.StartAsync(workflow, context.Message, reply.Address, cancellationToken))
        {
            case WorkflowStart.Ignored:
                context.Outcome = ProcessOutcome.Filtered;
                return;
            case WorkflowStart.Known:
                throw new EsbException(
                    "ESB-WFL-RUNNING",
                    $"The message has started an instance of '{workflow}' before; the answer went to its first sender.",
                    FaultKind.Invalid
                )
                {
                    Status = 409,
                };
        }

        var answer = await reply.WaitAsync(cancellationToken);
        if (FaultReply.Read(answer) is { } failure)
            throw failure;
        ProcessStatus.TakeOver(context, answer);
        context.Outcome = ProcessOutcome.Responded;
    }
}

/// <summary>What a message was to a workflow that an endpoint starts.</summary>
internal enum WorkflowStart
{
    /// <summary>It started an instance.</summary>
    Started,

    /// <summary>It has started one before, and had no further effect.</summary>
    Known,

    /// <summary>An instance with its keys lives, beside which the workflow ignores it.</summary>
    Ignored,
}
