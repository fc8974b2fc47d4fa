using System.Text.Json;
using Esb.Core.Activities;
using Esb.Storage.Activities;

namespace Esb.Storage.Sql.Activities;

/// <summary>
/// Merges the progress found in facts into the items that it concerns, in one transaction: reads them, merges, writes them back. Hosts take
/// turns, because each may know a part of an item.
/// </summary>
internal sealed class ActivityMerge(SqlSession session)
{
    private const string LockName = "current_schema() || '.activity'";

    private const string SaveRows = $"""
        insert into activity_item ({ActivityQueries.Columns}) select {ActivityQueries.Columns} from
        """;

    private const string UpdateRows = """
        where true on conflict (activity, id) do update set
          conversation_id = excluded.conversation_id, started_at = excluded.started_at, completed_at = excluded.completed_at, first_at =
            excluded.first_at,
          last_at = excluded.last_at, milestones = excluded.milestones, data = excluded.data, is_linked = excluded.is_linked
        """;

    private const string Columns = "activity, conversation_id, key, at";

    public async Task<bool> RunAsync(IReadOnlyList<ActivityProgress> progress)
    {
        var facts = progress.Select(Clean).ToList();
        var book = await LoadAsync(facts);
        foreach (var fact in facts)
            book.Apply(fact);
        return await SaveAsync(book);
    }

    private async Task<ActivityBook> LoadAsync(IReadOnlyList<ActivityProgress> progress)
    {
        var keyless = SqlRows.Of(
            "keyless",
            progress.Where(one => one.Key is null).Select(one => (one.Activity, one.ConversationId)).Distinct().ToList(),
            ("activity", SqlType.Text, one => one.Activity),
            ("conversation_id", SqlType.Id, one => one.ConversationId)
        );
        var keyed = progress
            .Where(one => one.Key is not null)
            .Select(one => (one.Activity, one.ConversationId, Key: one.Key!))
            .Distinct()
            .ToList();
        var conversations = progress.Select(one => (one.Activity, one.ConversationId)).Distinct();
        var said = SqlRows.Of(
            "said",
            keyed,
            ("activity", SqlType.Text, one => one.Activity),
            ("conversation_id", SqlType.Id, one => one.ConversationId),
            ("key", SqlType.Text, one => one.Key)
        );
        var items = SqlRows.Of(
            "items",
            keyed
                .Select(one => (one.Activity, Id: ActivityRow.IdOf(one.Key)))
                .Concat(conversations.Select(one => (one.Activity, Id: ActivityRow.IdOf(one.ConversationId))))
                .Distinct()
                .ToList(),
            ("activity", SqlType.Text, one => one.Activity),
            ("id", SqlType.Text, one => one.Id)
        );

        var book = new ActivityBook();
        await using var found = await session.QueryManyAsync(Load(keyless, said, items), [], keyless, said, items);
        await found.ReadAsync(_ => true);
        foreach (var link in await found.ReadAsync(Link))
            book.Add(link);
        foreach (var row in await found.ReadAsync(ActivityQueries.Read))
            book.Add(row);
        return book;
    }

    // For conversations with progress without a key: their links, and the items of these links. For the others: the links and items that
    // the progress names.
    private string Load(SqlRows keyless, SqlRows said, SqlRows items)
    {
        var linked = $"""
        select {Columns} from (
          select l.activity, l.conversation_id, l.key, l.at, row_number() over (partition by l.activity, l.conversation_id order by
            l.key) as place
          from {session.Dialect.Rows(
            keyless
        )} join activity_link l on l.activity = keyless.activity and l.conversation_id = keyless.conversation_id) linked
        where place <= {ActivityBook.MostItems}
        """;
        return $"""
        {session.Dialect.Lock(LockName)};
        {linked} union
        select {Columns} from activity_link where (activity, conversation_id, key) in (select activity, conversation_id, key from
          {session.Dialect.Rows(
            said
        )});
        select {ActivityQueries.Columns} from activity_item where (activity, id) in (
          select activity, id from {session.Dialect.Rows(items)} union select activity, 'k:' || key from ({linked}) of_conversations)
        """;
    }

    private async Task<bool> SaveAsync(ActivityBook book)
    {
        var rows = book.Rows.Where(row => row.IsChanged).ToList();
        var links = book.NewLinks.ToList();
        if (rows.Count > 0)
            await SaveAsync(rows);
        if (links.Count > 0)
            await SaveAsync(links);
        return rows.Count + links.Count > 0; // false if all progress was known already
    }

    private Task SaveAsync(List<ActivityRow> changed)
    {
        var rows = SqlRows.Of(
            "changed",
            changed,
            ("activity", SqlType.Text, row => row.Activity),
            ("id", SqlType.Text, row => row.Id),
            ("key", SqlType.Text, row => row.Key),
            ("conversation_id", SqlType.Id, row => row.ConversationId),
            ("started_at", SqlType.Time, row => row.StartedAt),
            ("completed_at", SqlType.Time, row => row.CompletedAt),
            ("first_at", SqlType.Time, row => row.FirstAt),
            ("last_at", SqlType.Time, row => row.LastAt),
            (
                "milestones",
                SqlType.Json,
                row => new SqlJson(JsonSerializer.Serialize(row.Milestones, StorageJson.Default.DictionaryStringDateTimeOffset))
            ),
            (
                "data",
                SqlType.Json,
                row => new SqlJson(JsonSerializer.Serialize(row.Data, StorageJson.Default.DictionaryStringActivityDatum))
            ),
            ("is_linked", SqlType.Flag, row => row.IsLinked)
        );
        return session.ExecuteAsync($"{SaveRows} {session.Dialect.Rows(rows)} {UpdateRows}", rows);
    }

    private Task SaveAsync(List<ActivityLink> made)
    {
        var rows = SqlRows.Of(
            "made",
            made,
            ("activity", SqlType.Text, link => link.Activity),
            ("conversation_id", SqlType.Id, link => link.ConversationId),
            ("key", SqlType.Text, link => link.Key),
            ("at", SqlType.Time, link => link.At)
        );
        return session.ExecuteAsync(
            $"insert into activity_link ({Columns}) select {Columns} from {session.Dialect.Rows(rows)} where true on conflict do nothing",
            rows
        );
    }

    private static ActivityLink Link(SqlRow row) => new(row.Text("activity"), row.Id("conversation_id"), row.Text("key"), row.Time("at"));

    // PostgreSQL keeps microseconds: repeated progress must not look earlier than its stored form.
    private static ActivityProgress Clean(ActivityProgress progress) =>
        progress with
        {
            At = progress.At.AddTicks(-(progress.At.Ticks % TimeSpan.TicksPerMicrosecond)),
            Key = SqlText.Clean(progress.Key),
            Data = progress.Data.ToDictionary(datum => SqlText.Clean(datum.Key), datum => SqlText.Clean(datum.Value)),
        };
}
