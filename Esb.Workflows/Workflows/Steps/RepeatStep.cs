using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Settings of the step <c>repeat</c>.</summary>
internal sealed record RepeatConfig : SettingsRecord
{
    [Setting("The steps run as long as this holds; it is looked at before each run.")]
    public required ConditionConfig While { get; init; }

    [Setting("The steps to repeat.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }
}

/// <summary>Repeats steps as long as a condition holds.</summary>
internal sealed class RepeatStep : DurableStep<RepeatConfig>
{
    public override string Kind => "repeat";

    protected override StepModel CompileDurable(RepeatConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var condition = compiler.Expressions.Compile(settings.While, compiler.Errors);
        var steps = compiler.Compile(settings.Steps);
        return Model(
            step,
            $"repeat({steps.Description})",
            new RepeatFlow(condition, steps) { IsEndless = condition is not null && IsEndless(settings.While, condition) },
            condition is not null,
            new StepTraits { Values = [.. settings.While.Values] },
            steps
        );
    }

    // Where constants alone decide, one look tells.
    private static bool IsEndless(ConditionConfig config, IMessageCondition condition) =>
        config.Values.All(value => value.Value is not null)
        && condition.Holds(new MessageContext(EsbMessage.Create(MessageBody.Empty, TimeProvider.System), ""));
}
