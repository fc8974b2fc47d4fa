using Esb.Content.Lookups;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes;

/// <summary>Compiles the steps of one process. Bound steps are nested delegates: nothing is looked up by name at run time.</summary>
internal sealed class StepCompiler(
    string process,
    IReadOnlyDictionary<string, IStepFactory> factories,
    IExpressionCompiler expressions,
    ConfigErrors errors,
    LookupModels? lookups = null,
    bool isWorkflow = false
) : IStepCompiler
{
    public bool IsWorkflow => isWorkflow;

    public string Process => process;

    public ConfigErrors Errors => errors;

    public IExpressionCompiler Expressions => expressions;

    public StepListModel Compile(IReadOnlyList<StepConfig> steps)
    {
        var models = steps.Select(step => factories[step.Kind].Compile(step, this)).ToList();
        LookupPrefetch?[] before =
        [
            .. models.Select(step => lookups is null ? null : LookupPrefetch.Of(step, lookups, expressions, errors)),
        ];
        return new StepListModel(
            models,
            (services, from) => Sequence([.. models.Skip(from).Select((step, index) => Place(step, before[from + index], services))])
        );
    }

    public static PlacedStep Place(StepModel step, IServiceProvider services) => Place(step, before: null, services);

    private static PlacedStep Place(StepModel step, LookupPrefetch? before, IServiceProvider services)
    {
        var run = step.Bind!(services);
        return new(
            before is null ? run : before.Before(run, services.GetRequiredService<ILookupQueries>()),
            step.Place,
            step.Kind,
            StepTrace.Of(step)
        );
    }

    private static MessageStep Sequence(PlacedStep[] steps) =>
        steps.Length == 1 ? steps[0].RunAsync : (context, cancellationToken) => PlacedStep.RunAllAsync(steps, context, cancellationToken);
}
