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
    /// <param name="means">What an operator has agreed to.</param>
    /// <param name="cancellationToken">Cancels the check.</param>
    public async Task RefuseAsync(ConfigErrors errors, ExchangeMeans means, CancellationToken cancellationToken)
    {
        var refused = (await PlanAsync(next, cancellationToken)).Where(change => IsRefused(change.Kind, means)).ToList();
        if (refused.Count == 0)
            return;
        var known = (await PlanAsync(current, cancellationToken))
            .Where(change => IsRefused(change.Kind, default))
            .Select(change => change.Object)
            .ToHashSet();
        foreach (var change in refused.Where(change => !known.Contains(change.Object)))
            errors.Add(CodeOf(change.Kind), change.Object, $"{change.Detail}{HintOf(change.Kind)}");
    }

    private static string CodeOf(ChangeKind kind) => kind == ChangeKind.Suspend ? "ESB-WFL-NEEDED" : "ESB-CONFIG-MIGRATION";

    private static bool IsRefused(ChangeKind kind, ExchangeMeans means) =>
        kind == ChangeKind.Refuse || (kind == ChangeKind.Migrate && !means.Migrates) || (kind == ChangeKind.Suspend && !means.Suspends);

    private static string HintOf(ChangeKind kind) =>
        kind switch
        {
            ChangeKind.Migrate => "; esb reload --migrate makes it",
            ChangeKind.Suspend => "; --force suspends them",
            _ => "",
        };

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
