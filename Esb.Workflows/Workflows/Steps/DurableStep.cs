using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Base of steps that wait: most exist in workflows only.</summary>
/// <typeparam name="TSettings">The settings type registered for the step.</typeparam>
internal abstract class DurableStep<TSettings> : StepFactory<TSettings>
{
    protected static readonly TimeSpan ShortestTimer = TimeSpan.FromSeconds(1);
    protected static readonly TimeSpan LongestTimer = TimeSpan.FromDays(5 * 366);

    protected sealed override StepModel Compile(TSettings settings, StepConfig step, IStepCompiler compiler)
    {
        if (!compiler.IsWorkflow && CompileInProcess(settings, step, compiler) is { } model)
            return model;
        if (!compiler.IsWorkflow)
            compiler.Errors.Add(
                "ESB-WFL-PLACE",
                step.Path,
                $"the step {step.Kind} is one of workflows, and a process keeps nothing between messages; expected it in the "
                    + $"section workflows",
                step.Origin
            );
        return CompileDurable(settings, step, compiler);
    }

    /// <summary>Compiles the step of a process; null where only workflows have it.</summary>
    protected virtual StepModel? CompileInProcess(TSettings settings, StepConfig step, IStepCompiler compiler) => null;

    protected abstract StepModel CompileDurable(TSettings settings, StepConfig step, IStepCompiler compiler);

    protected static StepModel Model(
        StepConfig step,
        string description,
        StepFlow flow,
        bool isWhole,
        params IReadOnlyList<StepListModel> lists
    ) =>
        new(step, description)
        {
            Flow = flow,
            Lists = lists,
            Bind = isWhole ? _ => (_, _) => throw new InvalidOperationException($"The step {step.Path} runs in workflows only.") : null,
        };

    protected static StepModel Model(
        StepConfig step,
        string description,
        StepFlow flow,
        bool isWhole,
        StepTraits traits,
        params IReadOnlyList<StepListModel> lists
    ) =>
        new(step, description)
        {
            Flow = flow,
            Lists = lists,
            Traits = traits,
            Bind = isWhole ? _ => (_, _) => throw new InvalidOperationException($"The step {step.Path} runs in workflows only.") : null,
        };

    /// <summary>Refuses times that no timer can keep.</summary>
    protected static void CheckTime(TimeSpan? time, SettingsRecord settings, string property, IStepCompiler compiler)
    {
        if (time is { } given && (given < ShortestTimer || given > LongestTimer))
            compiler.Errors.Add("ESB-WFL-TIMER", settings, property, "expected 1s to 5 years");
    }

    protected static MatchedKeys CompileMatch(
        IReadOnlyDictionary<string, ValueConfig> match,
        SettingsRecord settings,
        IStepCompiler compiler
    )
    {
        if (match.Count == 0 && settings.IsSound("match"))
            compiler.Errors.Add("ESB-CFG-REQUIRED", settings, "match", "is required: the keys by which a message finds its instance");
        return MatchedKeys.Compile(match, compiler.Expressions, compiler.Errors);
    }
}
