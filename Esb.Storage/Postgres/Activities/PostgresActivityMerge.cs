using System.Text.Json;
using Dapper;
using Esb.Core.Activities;
using Esb.Storage.Activities;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres.Activities;

/// <summary>Merges what facts say into the items that it concerns: reads them, merges, writes them back, in one transaction. Hosts take turns, for each may know a part of an item.</summary>
internal sealed class PostgresActivityMerge(NpgsqlConnection connection)
{
    // A host that falls silent in between must not make the others wait for as long as its connection looks alive.
    private const string Lock =
        """
        select set_config('idle_in_transaction_session_timeout', '5s', true), set_config('lock_timeout', '5s', true),
          pg_advisory_xact_lock(hashtextextended(current_schema() || '.activity', 0))
        """;

    // The items of conversations in which something is said without a key, of which the rows below must be the same; of the others what is said again.
    private const string Links =
        """
        select l.activity, l.conversation_id as ConversationId, l.key, l.at from unnest(@keyless, @keylessConversations) c (activity, conversation)
          cross join lateral (select * from activity_link where activity = c.activity and conversation_id = c.conversation order by key limit @most) l
        union
        select l.activity, l.conversation_id, l.key, l.at from activity_link l
        where (l.activity, l.conversation_id, l.key) in (select * from unnest(@keyed, @keyedConversations, @keys))
        """;

    private static readonly string Rows =
        $"""
        select {PostgresActivityQuery.Columns} from activity_item
        where (activity, id) in (select * from unnest(@idActivities, @ids)
          union select l.activity, 'k:' || l.key from unnest(@keyless, @keylessConversations) c (activity, conversation)
            cross join lateral (select * from activity_link where activity = c.activity and conversation_id = c.conversation order by key limit @most) l)
        """;

    private const string SaveRows =
        """
        insert into activity_item (activity, id, key, conversation_id, started_at, completed_at, first_at, last_at, milestones, data, is_linked)
        select * from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        on conflict (activity, id) do update set
          conversation_id = excluded.conversation_id, started_at = excluded.started_at, completed_at = excluded.completed_at, first_at = excluded.first_at,
          last_at = excluded.last_at, milestones = excluded.milestones, data = excluded.data, is_linked = excluded.is_linked
        """;

    private const string SaveLinks = "insert into activity_link (activity, conversation_id, key, at) select * from unnest($1, $2, $3, $4) on conflict do nothing";

    public async Task RunAsync(IReadOnlyList<ActivityProgress> progress, CancellationToken cancellationToken)
    {
        var facts = progress.Select(Clean).ToList();
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        var book = await LoadAsync(facts, transaction, cancellationToken);
        foreach (var fact in facts) book.Apply(fact);
        await SaveAsync(book, transaction, cancellationToken);
        await transaction.CommitAsync(cancellationToken);
    }

    private async Task<ActivityBook> LoadAsync(IReadOnlyList<ActivityProgress> progress, NpgsqlTransaction transaction, CancellationToken cancellationToken)
    {
        var conversations = progress.Select(one => (one.Activity, one.ConversationId)).Distinct().ToList();
        var keyless = progress.Where(one => one.Key is null).Select(one => (one.Activity, one.ConversationId)).Distinct().ToList();
        var keyed = progress.Where(one => one.Key is not null).Select(one => (one.Activity, one.ConversationId, Key: one.Key!)).Distinct().ToList();
        var ids = keyed.Select(one => (one.Activity, Id: ActivityRow.IdOf(one.Key)))
            .Concat(conversations.Select(one => (one.Activity, Id: ActivityRow.IdOf(one.ConversationId)))).Distinct().ToList();
        var parameters = new
        {
            keyless = keyless.Select(one => one.Activity).ToArray(),
            keylessConversations = keyless.Select(one => one.ConversationId).ToArray(),
            keyed = keyed.Select(one => one.Activity).ToArray(),
            keyedConversations = keyed.Select(one => one.ConversationId).ToArray(),
            keys = keyed.Select(one => one.Key).ToArray(),
            idActivities = ids.Select(one => one.Activity).ToArray(),
            ids = ids.Select(one => one.Id).ToArray(),
            most = ActivityBook.MostItems,
        };
        var book = new ActivityBook();
        await using var answers = await connection.QueryMultipleAsync(new CommandDefinition($"{Lock}; {Links}; {Rows}", parameters, transaction, cancellationToken: cancellationToken));
        await answers.ReadAsync<object>();
        foreach (var link in await answers.ReadAsync<LinkRow>()) book.Add(new ActivityLink(link.Activity, link.ConversationId, link.Key, new DateTimeOffset(link.At)));
        foreach (var row in await answers.ReadAsync<PostgresActivityRow>()) book.Add(row.ToRow());
        return book;
    }

    private async Task SaveAsync(ActivityBook book, NpgsqlTransaction transaction, CancellationToken cancellationToken)
    {
        var rows = book.Rows.Where(row => row.IsChanged).ToList();
        var links = book.NewLinks.ToList();
        if (rows.Count == 0 && links.Count == 0) return; // all of it came again
        await using var batch = new NpgsqlBatch(connection, transaction);
        batch.BatchCommands.Add(new NpgsqlBatchCommand(SaveRows)
        {
            Parameters =
            {
                PostgresArray.Of(rows, NpgsqlDbType.Text, row => row.Activity),
                PostgresArray.Of(rows, NpgsqlDbType.Text, row => row.Id),
                PostgresArray.Of(rows, NpgsqlDbType.Text, row => row.Key),
                PostgresArray.Of(rows, NpgsqlDbType.Uuid, row => row.ConversationId),
                PostgresArray.Of(rows, NpgsqlDbType.TimestampTz, row => row.StartedAt?.UtcDateTime),
                PostgresArray.Of(rows, NpgsqlDbType.TimestampTz, row => row.CompletedAt?.UtcDateTime),
                PostgresArray.Of(rows, NpgsqlDbType.TimestampTz, row => row.FirstAt.UtcDateTime),
                PostgresArray.Of(rows, NpgsqlDbType.TimestampTz, row => row.LastAt.UtcDateTime),
                PostgresArray.Of(rows, NpgsqlDbType.Jsonb, row => JsonSerializer.Serialize(row.Milestones, StorageJson.Default.DictionaryStringDateTimeOffset)),
                PostgresArray.Of(rows, NpgsqlDbType.Jsonb, row => JsonSerializer.Serialize(row.Data, StorageJson.Default.DictionaryStringActivityDatum)),
                PostgresArray.Of(rows, NpgsqlDbType.Boolean, row => row.IsLinked),
            },
        });
        if (links.Count > 0)
        {
            batch.BatchCommands.Add(new NpgsqlBatchCommand(SaveLinks)
            {
                Parameters =
                {
                    PostgresArray.Of(links, NpgsqlDbType.Text, link => link.Activity),
                    PostgresArray.Of(links, NpgsqlDbType.Uuid, link => link.ConversationId),
                    PostgresArray.Of(links, NpgsqlDbType.Text, link => link.Key),
                    PostgresArray.Of(links, NpgsqlDbType.TimestampTz, link => link.At.UtcDateTime),
                },
            });
        }

        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    // PostgreSQL keeps microseconds: what comes again must not look earlier than what is kept of it.
    private static ActivityProgress Clean(ActivityProgress progress) => progress with
    {
        At = progress.At.AddTicks(-(progress.At.Ticks % TimeSpan.TicksPerMicrosecond)),
        Key = PostgresText.Clean(progress.Key),
        Data = progress.Data.ToDictionary(datum => PostgresText.Clean(datum.Key), datum => PostgresText.Clean(datum.Value)),
    };

    private sealed record LinkRow
    {
        public string Activity { get; init; } = "";

        public Guid ConversationId { get; init; }

        public string Key { get; init; } = "";

        public DateTime At { get; init; }
    }
}
