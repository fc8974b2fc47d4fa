using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps.Holding;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Settings of the step <c>delay</c>.</summary>
[ExactlyOne("for", "until")]
internal sealed record DelayConfig : SettingsRecord
{
    [Setting("How long to wait.", Main = true)]
    public TimeSpan? For { get; init; }

    [Setting("The instant to wait for, such as 2027-01-01T08:00:00Z; a past one does not wait. In a process also a time such as 5m.")]
    public ValueConfig? Until { get; init; }
}

/// <summary>Waits for a time: in the store; in a process up to half a minute in place.</summary>
internal sealed class DelayStep : DurableStep<DelayConfig>
{
    public override string Kind => "delay";

    protected override StepModel CompileInProcess(DelayConfig settings, StepConfig step, IStepCompiler compiler) =>
        ProcessDelay.Compile(settings, step, compiler);

    protected override StepModel CompileDurable(DelayConfig settings, StepConfig step, IStepCompiler compiler)
    {
        CheckTime(settings.For, settings, "for", compiler);
        var until = settings.Until is null ? null : compiler.Expressions.Compile(settings.Until, compiler.Errors);
        return Model(step, "delay", new DelayFlow(settings.For, until), until is not null || settings.Until is null);
    }
}
