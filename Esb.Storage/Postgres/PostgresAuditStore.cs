using System.Runtime.CompilerServices;
using System.Text;
using Dapper;
using Esb.Core.Audit;
using Esb.Storage.Segments;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Audit facts in PostgreSQL. Callers at the same time share one transaction.</summary>
internal sealed class PostgresAuditStore : IAuditStore, IAuditRetention, IAsyncDisposable
{
    // Of callers; most bring one fact.
    private const int MaxGroup = 500;

    private readonly PostgresDatabase _database;
    private readonly PostgresAuditWriter _writer;
    private readonly GroupCommit<IReadOnlyList<AuditFact>> _commits;

    public PostgresAuditStore(PostgresDatabase database, IAuditSpool? spool)
    {
        _database = database;
        Spool = spool;
        _writer = new PostgresAuditWriter(database.Source, database.Partitions);
        _commits = new GroupCommit<IReadOnlyList<AuditFact>>(CommitAsync, MaxGroup);
    }

    public IAuditSpool? Spool { get; }

    public async Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        if (facts.Count > 0) await _commits.AddAsync(facts, cancellationToken);
    }

    public IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, CancellationToken cancellationToken) =>
        ReadAsync(PostgresAuditQuery.Find(query), cancellationToken);

    public async Task<IReadOnlyList<AuditFact>> GetJourneyAsync(Guid messageId, CancellationToken cancellationToken) =>
        await ReadAsync(PostgresAuditQuery.Journey(messageId), cancellationToken).ToListAsync(cancellationToken);

    public Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken) =>
        _database.RunAsync(() => _database.Partitions.DropBeforeAsync(time, cancellationToken), cancellationToken);

    public ValueTask DisposeAsync() => _commits.DisposeAsync();

    private async Task CommitAsync(IReadOnlyList<IReadOnlyList<AuditFact>> group)
    {
        try
        {
            await _database.EnsureReadyAsync(CancellationToken.None); // nobody's own token: the group is everybody's
            await _writer.WriteAsync(group is [var facts] ? facts : [.. group.SelectMany(part => part)], CancellationToken.None);
        }
        catch (Exception ex) when (PostgresErrors.IsRefusal(ex))
        {
            throw StoreErrors.AuditRefused(ex);
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex) || ex is Core.Errors.EsbException)
        {
            throw StoreErrors.AuditNotWritten(ex);
        }
    }

    private async IAsyncEnumerable<AuditFact> ReadAsync((string Sql, DynamicParameters Parameters) query, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var connection = await _database.OpenAsync(cancellationToken);
        await foreach (var row in connection.QueryUnbufferedAsync<PostgresAuditRow>(query.Sql, query.Parameters).WithCancellation(cancellationToken))
            yield return row.ToFact();
    }
}
