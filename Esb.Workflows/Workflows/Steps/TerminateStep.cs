using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Settings of the step <c>terminate</c>.</summary>
internal sealed record TerminateConfig : SettingsRecord
{
    [Setting("The reason: a text with places for values.", Main = true)]
    public string? Reason { get; init; }
}

/// <summary>Ends the instance before its last step.</summary>
internal sealed class TerminateStep : DurableStep<TerminateConfig>
{
    public override string Kind => "terminate";

    protected override StepModel CompileDurable(TerminateConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var reason = settings.Reason is null
            ? null
            : compiler.Expressions.CompileTemplate(settings.Reason, $"{step.Path}.reason", step.Origin, compiler.Errors);
        return Model(step, "terminate", new TerminateFlow(reason), reason is not null || settings.Reason is null);
    }
}
