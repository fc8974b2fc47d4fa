using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>Compiles the steps of one process into nested delegates: nothing is looked up by name once messages run.</summary>
internal sealed class StepCompiler(
    string process,
    IReadOnlyDictionary<string, IStepFactory> factories,
    IExpressionCompiler expressions,
    ConfigErrors errors) : IStepCompiler
{
    public string Process => process;

    public ConfigErrors Errors => errors;

    public IExpressionCompiler Expressions => expressions;

    public CompiledStep? Compile(IReadOnlyList<StepConfig> steps)
    {
        // All are compiled, also behind one that fails: every error is wanted.
        var compiled = steps.Select(step => factories[step.Kind].Compile(step, this)).ToList();
        return compiled.Contains(null)
            ? null
            : new CompiledStep(Sequence([.. compiled.Zip(steps, (step, config) => new PlacedStep(step!.Run, config.Id ?? config.Path, StepTrace.Of(config)))]), string.Join(" → ", compiled.Select(step => step!.Description)));
    }

    private static MessageStep Sequence(PlacedStep[] steps) => steps.Length == 1 ? steps[0].RunAsync : (context, cancellationToken) => PlacedStep.RunAllAsync(steps, context, cancellationToken);
}
