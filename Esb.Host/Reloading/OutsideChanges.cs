using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Planning;

namespace Esb.Host.Reloading;

/// <summary>What another revision needs changed on broker and database before it can be put in service.</summary>
/// <param name="current">What runs.</param>
/// <param name="next">What is to run.</param>
internal sealed class OutsideChanges(Revision current, Revision next)
{
    /// <summary>Reports what no host changes by itself. What is so already, whatever runs, refuses nothing.</summary>
    /// <param name="errors">Receives a line for each.</param>
    /// <param name="migrates">Whether it will be changed.</param>
    /// <param name="cancellationToken">Stops looking.</param>
    public async Task RefuseAsync(ConfigErrors errors, bool migrates, CancellationToken cancellationToken)
    {
        var refused = (await PlanAsync(next, cancellationToken)).Where(change => change.Kind == ChangeKind.Refuse || (change.Kind == ChangeKind.Migrate && !migrates)).ToList();
        if (refused.Count == 0) return;
        var known = (await PlanAsync(current, cancellationToken)).Where(change => change.Kind is ChangeKind.Refuse or ChangeKind.Migrate).Select(change => change.Object).ToHashSet();
        foreach (var change in refused.Where(change => !known.Contains(change.Object)))
            errors.Add("ESB-CONFIG-MIGRATION", change.Object, change.Kind == ChangeKind.Refuse ? change.Detail : $"{change.Detail}; esb reload --migrate makes it");
    }

    // A server that cannot be reached refuses nothing: its endpoints pause until it is back, and tell then.
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
