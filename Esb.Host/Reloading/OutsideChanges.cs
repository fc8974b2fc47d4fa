using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Planning;

namespace Esb.Host.Reloading;

/// <summary>The changes on broker and database that another revision requires before it can be activated.</summary>
/// <param name="current">The running revision.</param>
/// <param name="next">The revision to activate.</param>
internal sealed class OutsideChanges(Revision current, Revision next)
{
    /// <summary>Reports changes that a host does not make by itself. A conflict that exists under the running revision refuses
    /// nothing.</summary>
    /// <param name="errors">Receives an error for each change.</param>
    /// <param name="migrates">True if a migration will make the changes.</param>
    /// <param name="cancellationToken">Cancels the check.</param>
    public async Task RefuseAsync(ConfigErrors errors, bool migrates, CancellationToken cancellationToken)
    {
        var refused = (await PlanAsync(next, cancellationToken))
            .Where(change => change.Kind == ChangeKind.Refuse || (change.Kind == ChangeKind.Migrate && !migrates))
            .ToList();
        if (refused.Count == 0)
            return;
        var known = (await PlanAsync(current, cancellationToken))
            .Where(change => change.Kind is ChangeKind.Refuse or ChangeKind.Migrate)
            .Select(change => change.Object)
            .ToHashSet();
        foreach (var change in refused.Where(change => !known.Contains(change.Object)))
            errors.Add(
                "ESB-CONFIG-MIGRATION",
                change.Object,
                change.Kind == ChangeKind.Refuse ? change.Detail : $"{change.Detail}; esb reload --migrate makes it"
            );
    }

    // An unreachable server refuses nothing: its endpoints pause until it is back, and report the conflict then.
    private static async Task<List<PlannedChange>> PlanAsync(Revision revision, CancellationToken cancellationToken)
    {
        var changes = new List<PlannedChange>();
        foreach (var planner in revision.Services.GetServices<IChangePlanner>())
        {
            try
            {
                changes.AddRange(await planner.PlanAsync(cancellationToken));
            }
            catch (EsbException ex) when (ex.Kind is FaultKind.Unavailable)
            {
                continue;
            }
        }

        return changes;
    }
}
