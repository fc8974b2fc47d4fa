using System.Threading.Channels;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres.Evidence;
using Esb.Storage.Segments;
using Npgsql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Audit facts in PostgreSQL. Callers at the same time share one transaction.</summary>
internal sealed class PostgresAuditStore : IAuditStore, IAuditRetention, IAsyncDisposable
{
    // Of callers; most bring one fact.
    private const int MaxGroup = 500;

    // What a fact needs to be recorded, without recording one: the right to write there, and a commit that is flushed, also by the standbys that count.
    private const string Write = "insert into audit_event select * from audit_event where false";
    private const string Commit = "select pg_logical_emit_message(true, 'esb', 'health')";

    private static readonly TimeSpan CheckTimeout = TimeSpan.FromSeconds(2);

    private readonly PostgresDatabase _database;
    private readonly PostgresAuditWriter _writer;
    private readonly GroupCommit<IReadOnlyList<AuditFact>> _commits;
    private readonly AnchorLog? _anchors;

    /// <param name="database">The database.</param>
    /// <param name="spool">Where facts wait for it.</param>
    /// <param name="anchors">Hears how far the chains have come; its own to dispose. Null where nobody wants to know.</param>
    public PostgresAuditStore(PostgresDatabase database, IAuditSpool? spool, AnchorLog? anchors)
    {
        _database = database;
        _anchors = anchors;
        Spool = spool;
        _writer = new PostgresAuditWriter(database.Source, database.Partitions, new PostgresChain(database.Source, anchors));
        _commits = new GroupCommit<IReadOnlyList<AuditFact>>(CommitAsync, MaxGroup);
    }

    public IAuditSpool? Spool { get; }

    public async ValueTask<string?> CheckAsync(CancellationToken cancellationToken)
    {
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(CheckTimeout);
        try
        {
            await OnLiveSessionAsync(() => TryAsync(timeout.Token));
            return null;
        }
        catch (Exception ex) when (ex is EsbException || PostgresErrors.IsFailure(ex))
        {
            return PostgresErrors.Describe(ex);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return "the database does not answer";
        }
    }

    public async Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        if (facts.Count == 0) return;

        try
        {
            await _commits.AddAsync(facts, cancellationToken);
        }
        catch (ChannelClosedException ex)
        {
            throw StoreErrors.AuditNotWritten(ex); // the store is stopping
        }
    }

    public IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, CancellationToken cancellationToken)
    {
        var (sql, parameters) = PostgresAuditQuery.Find(query);
        return _database.SearchAsync<PostgresAuditRow>(sql, parameters, cancellationToken).Select(row => row.ToFact());
    }

    public async Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken)
    {
        var (sql, parameters) = PostgresAuditQuery.Journey(query);
        var room = query.MaxBodyBytes; // the database knows only how long bodies are while they are packed
        return await _database.SearchAsync<PostgresAuditRow>(sql, parameters, cancellationToken).Select(row => Fit(row.ToFact())).ToListAsync(cancellationToken);

        AuditFact Fit(AuditFact fact) => (room -= fact.Body?.Length ?? 0) < 0 ? fact with { Body = null } : fact; // at once: unpacked, all of them may be very large
    }

    public async Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        try
        {
            await _database.RunAsync(() => _database.Partitions.DropBeforeAsync(time, day => _anchors?.Release(day, archive: null), cancellationToken), cancellationToken);
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotAnchored(ex);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _commits.DisposeAsync();
        if (_anchors is not null) await _anchors.DisposeAsync();
    }

    private async Task CommitAsync(IReadOnlyList<IReadOnlyList<AuditFact>> group)
    {
        try
        {
            await _database.EnsureReadyAsync(CancellationToken.None); // nobody's own token: the group is everybody's
            IReadOnlyList<AuditFact> facts = group is [var only] ? only : [.. group.SelectMany(part => part)];
            await OnLiveSessionAsync(() => _writer.WriteAsync(facts, CancellationToken.None));
        }
        catch (Exception ex) when (PostgresErrors.IsRefusal(ex))
        {
            throw StoreErrors.AuditRefused(ex);
        }
        catch (Exception ex) when (PostgresErrors.IsFailure(ex) || ex is EsbException)
        {
            throw StoreErrors.AuditNotWritten(ex);
        }
    }

    private async Task TryAsync(CancellationToken cancellationToken)
    {
        await using var connection = await _database.OpenAsync(cancellationToken);
        await using var batch = new NpgsqlBatch(connection) { BatchCommands = { new NpgsqlBatchCommand(Write), new NpgsqlBatchCommand(Commit) } };
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    // A session that ended says nothing of the database, nor of what became of its commit; by their ids facts may be written again. Once, on a new one: a database that is away is nothing to wait for.
    private async Task OnLiveSessionAsync(Func<Task> work)
    {
        try
        {
            await work();
        }
        catch (NpgsqlException ex) when (PostgresErrors.IsLostSession(ex))
        {
            _database.Source.Clear(); // the others of the pool ended with it
            await work();
        }
    }
}
