using Dapper;
using Esb.Core.Activities;

namespace Esb.Storage.Postgres.Activities;

/// <summary>The questions that items of activities are asked, as SQL.</summary>
internal static class PostgresActivityQuery
{
    public const string Columns =
        """
        activity, id, key, conversation_id as ConversationId, started_at as StartedAt, completed_at as CompletedAt, first_at as FirstAt, last_at as LastAt,
        milestones, data, is_linked as IsLinked
        """;

    public const string CountOpen =
        "select count(*) from activity_item where activity = @activity and completed_at is null and started_at < @before and not is_linked";

    public const string RemoveItems =
        """
        delete from activity_item where ctid = any(array(select ctid from activity_item where last_at < @before limit @limit for update skip locked))
        """;

    public const string RemoveLinks =
        """
        delete from activity_link where ctid = any(array(
          select l.ctid from activity_link l where l.at < @before and not exists (select from activity_item i where i.activity = l.activity and i.id = 'k:' || l.key)
          limit @limit for update of l skip locked))
        """;

    /// <summary>Those that began last first.</summary>
    public static (string Sql, DynamicParameters Parameters) Find(ActivityQuery query)
    {
        var parameters = new DynamicParameters(new { activity = query.Activity });
        var conditions = new List<string> { "activity = @activity", "not is_linked", "started_at is not null" };
        if (query.Key is not null) Add("id = 'k:' || @key", "key", PostgresText.Clean(query.Key));
        if (query.IsCompleted is { } isCompleted) conditions.Add(isCompleted ? "completed_at is not null" : "completed_at is null");
        if (query.From is { } from) Add("(started_at >= @from or completed_at >= @from)", "from", from.UtcDateTime);
        if (query.To is { } to) Add("started_at < @to", "to", to.UtcDateTime);
        if (query.Before is { } before)
        {
            Add("(started_at, id) < (@beforeTime, @beforeId)", "beforeTime", before.StartedAt.UtcDateTime);
            parameters.Add("beforeId", PostgresText.Clean(before.Id));
        }

        var limit = query.Limit is { } most ? $"limit {most}" : "";
        return ($"select {Columns} from activity_item where {string.Join(" and ", conditions)} order by started_at desc, id desc {limit}", parameters);

        void Add(string condition, string parameter, object value)
        {
            conditions.Add(condition);
            parameters.Add(parameter, value);
        }
    }
}
