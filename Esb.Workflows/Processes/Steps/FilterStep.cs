using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Ends the process for messages that do not meet a condition (pattern: Message Filter).</summary>
internal sealed class FilterStep : StepFactory<ConditionConfig>
{
    public override string Kind => "filter";

    protected override StepModel Compile(ConditionConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var condition = compiler.Expressions.Compile(settings, compiler.Errors);
        return new StepModel(step, "filter")
        {
            Traits = new StepTraits
            {
                Streams = true,
                MayEnd = true,
                Values = [.. settings.Values],
            },
            Bind = condition is null ? null : _ => Run,
        };

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            if (!condition.Holds(context))
                context.Outcome = ProcessOutcome.Filtered;
            return ValueTask.CompletedTask;
        }
    }
}
