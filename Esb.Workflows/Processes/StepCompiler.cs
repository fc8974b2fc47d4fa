using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>Compiles the steps of one process. Bound steps are nested delegates: nothing is looked up by name at run time.</summary>
internal sealed class StepCompiler(
    string process,
    IReadOnlyDictionary<string, IStepFactory> factories,
    IExpressionCompiler expressions,
    ConfigErrors errors,
    bool isWorkflow = false) : IStepCompiler
{
    public bool IsWorkflow => isWorkflow;

    public string Process => process;

    public ConfigErrors Errors => errors;

    public IExpressionCompiler Expressions => expressions;

    public StepListModel Compile(IReadOnlyList<StepConfig> steps)
    {
        var models = steps.Select(step => factories[step.Kind].Compile(step, this)).ToList();
        return new StepListModel(models, services => Sequence([.. models.Select(step => Place(step, services))]));
    }

    public static PlacedStep Place(StepModel step, IServiceProvider services) => new(step.Bind!(services), step.Place, StepTrace.Of(step));

    private static MessageStep Sequence(PlacedStep[] steps) => steps.Length == 1 ? steps[0].RunAsync : (context, cancellationToken) => PlacedStep.RunAllAsync(steps, context, cancellationToken);
}
