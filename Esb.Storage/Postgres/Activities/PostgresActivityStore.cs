using System.Threading.Channels;
using Dapper;
using Esb.Core.Activities;
using Esb.Core.Errors;
using Esb.Storage.Segments;
using Npgsql;

namespace Esb.Storage.Postgres.Activities;

/// <summary>Items of activities in PostgreSQL, for all hosts. Callers at the same time share one transaction.</summary>
internal sealed class PostgresActivityStore : IActivityStore, IAsyncDisposable
{
    // Of callers; a mover brings a thousand facts at once, and a strict host one.
    private const int MaxGroup = 200;

    private readonly PostgresDatabase _database;
    private readonly GroupCommit<IReadOnlyList<ActivityProgress>> _commits;

    public PostgresActivityStore(PostgresDatabase database)
    {
        _database = database;
        _commits = new GroupCommit<IReadOnlyList<ActivityProgress>>(CommitAsync, MaxGroup);
    }

    public async Task RecordAsync(IReadOnlyList<ActivityProgress> progress, CancellationToken cancellationToken)
    {
        if (progress.Count == 0) return;
        try
        {
            await _commits.AddAsync(progress, cancellationToken);
        }
        catch (ChannelClosedException ex)
        {
            throw StoreErrors.NotWritten(ex); // the store is stopping
        }
    }

    public IAsyncEnumerable<ActivityItem> FindAsync(ActivityQuery query, CancellationToken cancellationToken)
    {
        var (sql, parameters) = PostgresActivityQuery.Find(query);
        return _database.SearchAsync<PostgresActivityRow>(sql, parameters, cancellationToken).Select(row => row.ToRow().ToItem());
    }

    public Task<long> CountOpenAsync(string activity, DateTimeOffset? startedBefore, CancellationToken cancellationToken) => _database.RunAsync(
        connection => connection.ExecuteScalarAsync<long>(new CommandDefinition(
            PostgresActivityQuery.CountOpen, new { activity, before = startedBefore?.UtcDateTime ?? DateTime.MaxValue }, cancellationToken: cancellationToken)),
        cancellationToken);

    public async Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        await _database.DeleteAsync(PostgresActivityQuery.RemoveItems, time, cancellationToken);
        await _database.DeleteAsync(PostgresActivityQuery.RemoveLinks, time, cancellationToken);
    }

    public ValueTask DisposeAsync() => _commits.DisposeAsync();

    private async Task CommitAsync(IReadOnlyList<IReadOnlyList<ActivityProgress>> group)
    {
        try
        {
            await using var connection = await _database.OpenAsync(CancellationToken.None); // nobody's own token: the group is everybody's
            await new PostgresActivityMerge(connection).RunAsync(group is [var one] ? one : [.. group.SelectMany(part => part)], CancellationToken.None);
        }
        catch (Exception ex) when (PostgresErrors.IsRefusal(ex))
        {
            throw new EsbException("ESB-STORE-REFUSED", "The store refuses what it was given.", FaultKind.Internal, ex);
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex))
        {
            throw PostgresErrors.NotServed(ex);
        }
    }
}
