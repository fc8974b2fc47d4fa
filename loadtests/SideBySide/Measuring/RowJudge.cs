namespace SideBySide.Measuring;

/// <summary>Turns the rounds of the sides into a line of the table.</summary>
internal static class RowJudge
{
    public static RowResult Judge(Row row, Series ours, IReadOnlyList<Series> peers)
    {
        var limit = peers.All(peer => peer.Flaw is null) ? peers.MinBy(peer => peer.MedianRate) : null;
        var names = string.Join(" or ", row.Peers.Select(peer => peer.Name));
        var goal = row.Goal?.Describe(names) ?? $"beside {names}";
        var flaw = ours.Flaw ?? peers.Select(peer => peer.Flaw).FirstOrDefault(reason => reason is not null);
        if (flaw is not null && ours.Flaw is not null)
            return RowResult.NotRun(row.Scenario, row.Case, goal, flaw);

        var value = flaw is not null ? null : Value(row, ours, limit);
        return new RowResult(
            row.Scenario,
            row.Case,
            goal,
            row.Goal?.LeastRatio ?? row.Goal?.LeastRate,
            ours.Target.Name,
            ours.MedianRate,
            limit?.Target.Name ?? "",
            limit?.MedianRate,
            value,
            IsMet(row.Goal, value, flaw),
            ours.MedianCpu,
            ours.MedianAllocated,
            limit?.MedianCpu,
            flaw
        )
        {
            IsRate = row.Goal is { LeastRate: not null },
        };
    }

    private static bool? IsMet(Goal? goal, Spread? value, string? flaw) =>
        goal switch
        {
            null => null,
            _ when flaw is not null => null,
            { LeastRatio: null, MostBytes: null, LeastRate: null } => true, // a side that lost something has a flaw
            _ => value is null ? null : goal.IsMet(value.Median),
        };

    private static Spread? Value(Row row, Series ours, Series? limit)
    {
        if (row.Goal is { MostBytes: not null })
            return Spread.Of([.. ours.AllocatedBytes]);
        if (row.Goal is { LeastRate: not null })
            return Spread.Of([.. ours.Rates]);
        return limit is null ? null : Spread.OfRatios(ours.Rates, limit.Rates);
    }
}
