using Esb.Core.Planning;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Tells what becomes of living instances with a revision, and which could not go on because it drops what their definition
/// names.</summary>
/// <param name="next">The services of the revision.</param>
/// <param name="models">The workflows of the revision.</param>
/// <param name="store">The instances.</param>
/// <param name="definitions">Compiles kept definitions.</param>
internal sealed class WorkflowPlanner(
    IServiceProvider next,
    WorkflowModels models,
    IWorkflowStore store,
    IPinnedDefinitions? definitions = null
) : IChangePlanner
{
    public bool NeedsRunningBus => true;

    public async Task<IReadOnlyList<PlannedChange>> PlanAsync(CancellationToken cancellationToken)
    {
        if (definitions is null)
            return [];
        var changes = new List<PlannedChange>();
        IReadOnlyDictionary<string, long>? counts = null;
        foreach (var definition in await store.LiveDefinitionsAsync(cancellationToken))
        {
            counts ??= await store.CountByDefinitionAsync(cancellationToken);
            changes.Add(PlanFor(definition, counts.GetValueOrDefault(definition.Hash)));
        }

        return changes;
    }

    private PlannedChange PlanFor(StoredDefinition definition, long living)
    {
        var (name, hash) = ($"workflows.{definition.Workflow}", definition.Hash[..12]);
        var instances = living == 1 ? "1 living instance" : $"{living} living instances";
        if (FindObstacle(definition) is { } obstacle)
            return new PlannedChange(ChangeKind.Suspend, name, $"{instances} of definition {hash} could not go on: {obstacle}");
        return new PlannedChange(
            ChangeKind.Keep,
            name,
            models.Find(definition.Workflow)!.Hash == definition.Hash
                ? $"{instances} of definition {hash}, which stays"
                : $"{instances} end on definition {hash}, with which they began"
        );
    }

    private string? FindObstacle(StoredDefinition definition)
    {
        if (models.Find(definition.Workflow) is not { } model)
            return "the configuration has no such workflow";
        return model.Hash == definition.Hash ? null : definitions!.FindObstacle(definition, next);
    }
}
