using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Moves instances to another definition of their workflow.</summary>
internal sealed partial class WorkflowEngine
{
    private const int MigrationPage = 500;
    private const int MostObstacles = 20;

    /// <summary>Moves the living instances of a workflow to one of its definitions; none if one of them could not be moved.</summary>
    /// <param name="workflow">The workflow.</param>
    /// <param name="to">The hash of the definition, or its beginning; null for the one that starts instances.</param>
    /// <param name="isDryRun">True to tell only what would be moved.</param>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="cancellationToken">Cancels between two instances; those that were moved stay so.</param>
    /// <exception cref="EsbException"><c>ESB-WFL-UNKNOWN</c>: there is no such workflow or definition. <c>ESB-WFL-STRANDED</c>: the place
    /// of an instance has no counterpart.</exception>
    public async Task<WorkflowMigration> MigrateAsync(
        string workflow,
        string? to,
        bool isDryRun,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        var target = to is null
            ? programs.Current(workflow)
            : programs.Living(workflow).FirstOrDefault(program => program.Hash.StartsWith(to, StringComparison.Ordinal))
                ?? throw new EsbException("ESB-WFL-UNKNOWN", $"'{workflow}' has no definition {to}.", FaultKind.Invalid) { Status = 404 };
        var maps = new Dictionary<string, PositionMap?>();
        var (movable, obstacles) = (new List<Guid>(), new Dictionary<(string From, string Reason), long>());
        await foreach (var instance in OthersAsync(workflow, target.Hash, cancellationToken))
        {
            if (FindObstacle(instance, target, maps) is not { } obstacle)
                movable.Add(instance.Id);
            else
                obstacles[(instance.Definition, obstacle)] = obstacles.GetValueOrDefault((instance.Definition, obstacle)) + 1;
        }

        var report = new WorkflowMigration(
            workflow,
            target.Hash,
            movable.Count,
            Moved: 0,
            [
                .. obstacles
                    .OrderByDescending(obstacle => obstacle.Value)
                    .Take(MostObstacles)
                    .Select(obstacle => new MigrationObstacle(obstacle.Key.From, obstacle.Value, obstacle.Key.Reason)),
            ]
        );
        if (isDryRun)
            return report;
        if (report.Obstacles is [var first, ..])
            throw new EsbException(
                "ESB-WFL-STRANDED",
                $"None is moved: {first.Instances} instances of definition {first.From[..12]} could not be: {first.Reason}.",
                FaultKind.Invalid
            )
            {
                Status = 409,
            };
        var moved = 0;
        foreach (var id in movable)
            moved += await TryMoveAsync(id, target, maps, decision, cancellationToken) ? 1 : 0;
        return report with { Moved = moved };
    }

    private async IAsyncEnumerable<WorkflowInstance> OthersAsync(
        string workflow,
        string hash,
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        var query = new WorkflowQuery
        {
            Workflow = workflow,
            States = LivingStates,
            Limit = MigrationPage,
        };
        while (await store.ListAsync(query, cancellationToken) is { Count: > 0 } page)
        {
            foreach (var instance in page.Where(instance => instance.Definition != hash))
                yield return instance;
            query = query with { After = page[^1].Id };
        }
    }

    private string? FindObstacle(WorkflowInstance instance, BoundProgram target, Dictionary<string, PositionMap?> maps)
    {
        if (!maps.TryGetValue(instance.Definition, out var map))
            maps[instance.Definition] = map = programs.Find(instance.Workflow, instance.Definition) is { } before
                ? new PositionMap(before, target)
                : null;
        if (map is null)
            return "its definition does not compile any more, so that its place is not known";
        return instance.State is WorkflowState.Running or WorkflowState.Compensating
            ? "it runs right now; try again"
            : map.FindObstacle(InstanceState.ReadPlaces(instance));
    }

    // One that has gone on meanwhile is looked at again; where it cannot be moved any more it stays on its definition.
    private async Task<bool> TryMoveAsync(
        Guid id,
        BoundProgram target,
        Dictionary<string, PositionMap?> maps,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        for (var round = 0; round < MostRounds; round++)
        {
            using (await _locks.EnterAsync(id, cancellationToken))
            {
                if (await store.FindAsync(id, cancellationToken) is not { IsEnded: false } instance || instance.Definition == target.Hash)
                    return false;
                if (FindObstacle(instance, target, maps) is not null)
                    return false;
                var run = InstanceRun.Load(target, instance with { Definition = target.Hash }, time);
                run.MoveTo(maps[instance.Definition]!, instance.Definition);
                run.NoteDecision(decision, "migrate");
                var commit = run.ToCommit();
                var result = await checkpoints.CommitAsync(commit);
                if (result.Outcome == CommitOutcome.Committed)
                {
                    await FollowAsync(run, commit, result, cancellationToken);
                    await RecordDecisionAsync(instance, decision, "migrate");
                    return true;
                }
            }
        }

        return false;
    }
}
