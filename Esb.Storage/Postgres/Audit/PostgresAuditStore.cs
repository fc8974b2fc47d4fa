using System.Runtime.CompilerServices;
using System.Threading.Channels;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres.Evidence;
using Npgsql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Audit facts in PostgreSQL. Concurrent callers share one transaction.</summary>
internal sealed class PostgresAuditStore : IAuditStore, IAuditRetention, IAsyncDisposable
{
    // The maximum number of callers; most bring one fact.
    private const int MaxGroup = 500;

    private const int MaxRows = 10_000; // of one search, which are read one by one

    // Checks what recording a fact needs, without recording one: the right to write, and a commit that is flushed, also by the synchronous
    // standbys.
    private const string Write = "insert into audit_event select * from audit_event where false";
    private const string Commit = "select pg_logical_emit_message(true, 'esb', 'health')";

    private static readonly TimeSpan CheckTimeout = TimeSpan.FromSeconds(2);

    private readonly PostgresDatabase _database;
    private readonly PostgresAuditWriter _writer;
    private readonly GroupCommit<IReadOnlyList<AuditFact>, ValueTuple> _commits;
    private readonly AnchorLog? _anchors;

    /// <param name="database">The database.</param>
    /// <param name="spool">The spool in which facts wait for the database.</param>
    /// <param name="anchors">Receives the heads of the chains; disposed by this store. Null if no anchors are kept.</param>
    public PostgresAuditStore(PostgresDatabase database, IAuditSpool? spool, AnchorLog? anchors)
    {
        _database = database;
        _anchors = anchors;
        Spool = spool;
        _writer = new PostgresAuditWriter(database.Source, database.Partitions, new PostgresChain(database.Source, anchors), database.Time);
        _commits = GroupCommit.Of<IReadOnlyList<AuditFact>>(CommitAsync, maxGroup: MaxGroup);
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
        if (facts.Count == 0)
            return;

        try
        {
            await _commits.CommitAsync(facts, cancellationToken);
        }
        catch (EsbException ex) when (ex.InnerException is ChannelClosedException)
        {
            throw StoreErrors.AuditNotWritten(ex); // the store is stopping
        }
    }

    // Rows come in the order of their last facts, and facts of one may have happened between those of others: each waits until no row that
    // may still come has a later one. One search is almost always enough, as each row has a fact that fits, unless one condition is met by
    // one fact of a row, and another condition by another.
    public async IAsyncEnumerable<AuditFact> FindAsync(AuditQuery query, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var waiting = new PriorityQueue<AuditFact, Guid>(Comparer<Guid>.Create((one, other) => other.CompareTo(one)));
        var left = Math.Clamp(query.Limit, 1, 1000);
        var isEnd = false;
        Guid? last = null;
        for (var wanted = left; left > 0 && !isEnd; wanted = Math.Min(4 * wanted, MaxRows))
        {
            var rows = 0;
            var (sql, parameters) = PostgresAuditQuery.Find(query, wanted, before: last);
            await foreach (var row in _database.SearchAsync<PostgresAuditRow>(sql, parameters, cancellationToken))
            {
                rows++;
                last = row.Id;
                if (left == 0)
                    continue; // to leave an answer before its end takes a further connection
                waiting.EnqueueRange(row.ToFacts().Where(fact => PostgresAuditQuery.Matches(fact, query)).Select(fact => (fact, fact.Id)));
                for (; left > 0 && waiting.TryPeek(out var next, out var id) && id.CompareTo(row.Id) >= 0; left--)
                {
                    waiting.Dequeue();
                    yield return next;
                }
            }

            isEnd = rows < wanted;
        }

        for (; left > 0 && waiting.TryDequeue(out var next, out _); left--)
            yield return next;
    }

    public async Task<IReadOnlyList<AuditFact>> GetJourneyAsync(AuditJourneyQuery query, CancellationToken cancellationToken)
    {
        var (sql, parameters) = PostgresAuditQuery.Journey(query);
        var room = query.MaxBodyBytes; // the database knows only the packed size of bodies
        var waiting = new PriorityQueue<AuditFact, Guid>();
        var journey = new List<AuditFact>();
        await foreach (var row in _database.SearchAsync<PostgresAuditRow>(sql, parameters, cancellationToken))
        {
            Take(before: row.FirstId ?? row.Id);
            waiting.EnqueueRange(row.ToFacts().Select(fact => (fact, fact.Id)));
        }

        Take(before: Guid.AllBitsSet);
        return journey;

        // Rows come in the order of their first facts.
        void Take(Guid before)
        {
            while (journey.Count < query.Limit && waiting.TryPeek(out var fact, out var id) && id.CompareTo(before) < 0)
            {
                waiting.Dequeue();
                journey.Add(Fit(fact));
            }
        }

        // Applied to each fact at once: unpacked, all bodies may be very large.
        AuditFact Fit(AuditFact fact) => (room -= fact.Body?.Length ?? 0) < 0 ? fact with { Body = null } : fact;
    }

    public async Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        try
        {
            await _database.RunAsync(
                () => _database.Partitions.DropBeforeAsync(time, day => _anchors?.Release(day, archive: null), cancellationToken),
                cancellationToken
            );
        }
        catch (Exception ex) when (StoreErrors.IsWriteFailure(ex))
        {
            throw StoreErrors.NotAnchored(ex);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _commits.DisposeAsync();
        if (_anchors is not null)
            await _anchors.DisposeAsync();
    }

    private async Task CommitAsync(IReadOnlyList<IReadOnlyList<AuditFact>> group)
    {
        try
        {
            await _database.EnsureReadyAsync(CancellationToken.None); // no caller's own token: the group is shared
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
        await using var batch = new NpgsqlBatch(connection)
        {
            BatchCommands = { new NpgsqlBatchCommand(Write), new NpgsqlBatchCommand(Commit) },
        };
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    // A lost session says nothing about the database or the outcome of its commit; facts can be written again, because they have ids. Once,
    // on a new session: an unreachable database is not waited for.
    private async Task OnLiveSessionAsync(Func<Task> work)
    {
        try
        {
            await work();
        }
        catch (NpgsqlException ex) when (PostgresErrors.IsLostSession(ex))
        {
            _database.Source.Clear(); // the other sessions of the pool were lost with it
            await work();
        }
    }
}
