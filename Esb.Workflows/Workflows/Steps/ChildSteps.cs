using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Settings of the steps <c>runWorkflow</c> and <c>startWorkflow</c>.</summary>
internal sealed record ChildConfig : SettingsRecord
{
    [Setting("The workflow to start with the current message.", Main = true, Reference = "workflows")]
    public required string Workflow { get; init; }
}

/// <summary>Runs another workflow, waits for its end, and goes on with its last message.</summary>
internal sealed class RunWorkflowStep : DurableStep<ChildConfig>
{
    public override string Kind => "runWorkflow";

    protected override StepModel CompileDurable(ChildConfig settings, StepConfig step, IStepCompiler compiler) =>
        Model(
            step,
            $"runWorkflow({settings.Workflow})",
            new ChildFlow(settings.Workflow, Waits: true),
            isWhole: true,
            new StepTraits { ReplacesBody = true }
        );
}

/// <summary>Starts another workflow and continues.</summary>
internal sealed class StartWorkflowStep : DurableStep<ChildConfig>
{
    public override string Kind => "startWorkflow";

    protected override StepModel CompileDurable(ChildConfig settings, StepConfig step, IStepCompiler compiler) =>
        Model(step, $"startWorkflow({settings.Workflow})", new ChildFlow(settings.Workflow, Waits: false), isWhole: true);
}
