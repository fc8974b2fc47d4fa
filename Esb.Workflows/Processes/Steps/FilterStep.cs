using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Ends the process for messages that do not meet a condition (pattern: Message Filter).</summary>
internal sealed class FilterStep : StepFactory<ConditionConfig>
{
    public override string Kind => "filter";

    protected override CompiledStep? Compile(ConditionConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (compiler.Expressions.Compile(settings, compiler.Errors) is not { } condition) return null;
        return new CompiledStep(Run, "filter");

        ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            if (!condition.Holds(context)) context.Outcome = ProcessOutcome.Filtered;
            return ValueTask.CompletedTask;
        }
    }
}
