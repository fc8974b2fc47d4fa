using Esb.Core.Planning;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Tells which instances could not go on with a revision, because it drops what their definition names.</summary>
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
        IReadOnlyList<WorkflowCount>? counts = null;
        foreach (var definition in await store.LiveDefinitionsAsync(cancellationToken))
        {
            if (FindObstacle(definition) is not { } obstacle)
                continue;
            counts ??= await store.CountAsync(cancellationToken);
            var living = counts.Where(count => count.Definition == definition.Hash).Sum(count => count.Count);
            changes.Add(
                new PlannedChange(
                    ChangeKind.Suspend,
                    $"workflows.{definition.Workflow}",
                    $"{living} living instances of definition {definition.Hash[..12]} could not go on: {obstacle}"
                )
            );
        }

        return changes;
    }

    private string? FindObstacle(StoredDefinition definition)
    {
        if (models.Find(definition.Workflow) is not { } model)
            return "the configuration has no such workflow";
        return model.Hash == definition.Hash ? null : definitions!.FindObstacle(definition, next);
    }
}
