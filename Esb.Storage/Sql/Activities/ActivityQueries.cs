using Esb.Core.Activities;
using Esb.Storage.Activities;

namespace Esb.Storage.Sql.Activities;

/// <summary>The questions that items of activities are asked, as SQL, and their rows.</summary>
internal static class ActivityQueries
{
    public const string Columns =
        "activity, id, key, conversation_id, started_at, completed_at, first_at, last_at, milestones, data, is_linked";

    public const string CountOpen =
        "select count(*) as count from activity_item where activity = @activity and completed_at is null and started_at < @before "
        + "and not is_linked";

    public static string RemoveItems(SqlDialect dialect) =>
        $"delete from activity_item where (activity, id) in (select activity, id from activity_item where last_at < @before limit "
        + $"@limit{dialect.ForUpdateSkipLocked})";

    public static string RemoveLinks(SqlDialect dialect) =>
        $"""
            delete from activity_link where (activity, conversation_id, key) in (
              select activity, conversation_id, key from activity_link l
              where at < @before and not exists (select 1 from activity_item i where i.activity = l.activity and i.id = 'k:' || l.key)
              limit @limit{dialect.ForUpdateSkipLocked})
            """;

    /// <summary>Those that began last first.</summary>
    public static (string Sql, IReadOnlyList<(string Name, object? Value)> Parameters) Find(ActivityQuery query)
    {
        var parameters = new List<(string, object?)> { ("activity", query.Activity) };
        var conditions = new List<string> { "activity = @activity", "not is_linked", "started_at is not null" };
        if (query.Key is not null)
            Add("id = 'k:' || @key", "key", query.Key);
        if (query.IsCompleted is { } isCompleted)
            conditions.Add(isCompleted ? "completed_at is not null" : "completed_at is null");
        if (query.From is { } from)
            Add("(started_at >= @from or completed_at >= @from)", "from", from);
        if (query.To is { } to)
            Add("started_at < @to", "to", to);
        if (query.Before is { } before)
        {
            Add("(started_at, id) < (@beforeTime, @beforeId)", "beforeTime", before.StartedAt);
            parameters.Add(("beforeId", before.Id));
        }

        var limit = query.Limit is { } most ? $"limit {most}" : "";
        return (
            $"select {Columns} from activity_item where {string.Join(" and ", conditions)} order by started_at desc, id desc {limit}",
            parameters
        );

        void Add(string condition, string parameter, object value)
        {
            conditions.Add(condition);
            parameters.Add((parameter, value));
        }
    }

    public static ActivityRow Read(SqlRow row) =>
        new(row.Text("activity"), row.Text("id"), row.TextOrNull("key"), row.Id("conversation_id"))
        {
            StartedAt = row.TimeOrNull("started_at"),
            CompletedAt = row.TimeOrNull("completed_at"),
            FirstAt = row.Time("first_at"),
            LastAt = row.Time("last_at"),
            Milestones = row.Json("milestones", StorageJson.Default.DictionaryStringDateTimeOffset),
            Data = row.Json("data", StorageJson.Default.DictionaryStringActivityDatum),
            IsLinked = row.Flag("is_linked"),
        };
}
