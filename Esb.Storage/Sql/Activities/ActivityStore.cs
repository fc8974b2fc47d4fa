using Esb.Core.Activities;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Storage.Sql.Activities;

/// <summary>
/// Items of activities in the tables <c>activity_item</c> and <c>activity_link</c>, for all hosts. Callers at the same time share one
/// transaction.
/// </summary>
internal sealed class ActivityStore : IActivityStore, IAsyncDisposable
{
    // The maximum number of callers; a mover brings a thousand facts at once, a strict host one.
    private const int MaxGroup = 200;

    private readonly SqlDatabase _database;
    private readonly GroupCommit<IReadOnlyList<ActivityProgress>, ValueTuple> _commits;

    public ActivityStore(SqlDatabase database)
    {
        _database = database;
        _commits = GroupCommit.Of<IReadOnlyList<ActivityProgress>>(CommitAsync, maxGroup: MaxGroup);
    }

    public async Task RecordAsync(IReadOnlyList<ActivityProgress> progress, CancellationToken cancellationToken)
    {
        if (progress.Count > 0)
            await _commits.CommitAsync(progress, cancellationToken);
    }

    public IAsyncEnumerable<ActivityItem> FindAsync(ActivityQuery query, CancellationToken cancellationToken)
    {
        var (sql, parameters) = ActivityQueries.Find(query);
        return _database.SearchAsync(sql, parameters, row => ActivityQueries.Read(row).ToItem(), cancellationToken);
    }

    public Task<long> CountOpenAsync(string activity, DateTimeOffset? startedBefore, CancellationToken cancellationToken) =>
        _database.FirstAsync(
            ActivityQueries.CountOpen,
            row => row.Long("count"),
            cancellationToken,
            ("activity", activity),
            ("before", startedBefore ?? DateTimeOffset.MaxValue)
        );

    public async Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        await _database.DeleteAsync(ActivityQueries.RemoveItems(_database.Dialect), time, cancellationToken);
        await _database.DeleteAsync(ActivityQueries.RemoveLinks(_database.Dialect), time, cancellationToken);
    }

    public ValueTask DisposeAsync() => _commits.DisposeAsync();

    private async Task CommitAsync(IReadOnlyList<IReadOnlyList<ActivityProgress>> group)
    {
        IReadOnlyList<ActivityProgress> progress = group is [var one] ? one : [.. group.SelectMany(part => part)];
        try
        {
            // No caller's own token: the group is shared.
            await _database.TransactAsync(session => new ActivityMerge(session).RunAsync(progress), CancellationToken.None);
        }
        catch (EsbException ex) when (ex.InnerException is { } inner && _database.IsRefusal(inner))
        {
            throw new EsbException("ESB-STORE-REFUSED", "The store refuses what it was given.", FaultKind.Internal, inner);
        }
    }
}
