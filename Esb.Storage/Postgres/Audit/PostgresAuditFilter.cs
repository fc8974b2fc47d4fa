using Dapper;
using Esb.Core.Audit;
using Esb.Storage.Sql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>The SQL that selects the rows of <c>audit_event</c> for a query: its tables and its conditions.</summary>
/// <remarks>Each requested field is a row of <c>audit_field</c>, so that the rarest of them can lead. Time conditions apply to every table,
/// so that partitions of other days are not opened. A row of several facts is found if one of them, whichever, meets each condition: a row
/// has the key and the time of its last fact, which is <see cref="PostgresFactGroups.Longest"/> after its first at most.</remarks>
internal sealed class PostgresAuditFilter
{
    // Further fields are checked in the rows found by these: each adds another table to plan for.
    private const int MostLeading = 4;

    // Ids begin with the time at which a fact was made, which differs from the time of the fact by moments only: a range of time is a range
    // of an index in id order, and vice versa.
    private static readonly TimeSpan Slack = TimeSpan.FromMinutes(5);

    private readonly List<string> _tables = ["audit_event e"];
    private readonly List<(string Id, string Time)> _keys = [("e.id", "e.occurred_at")];
    private readonly List<string> _conditions = [];

    /// <param name="query">What is asked for.</param>
    /// <param name="rowsBefore">Only rows before that of this id; null for all.</param>
    public PostgresAuditFilter(AuditQuery query, Guid? rowsBefore)
    {
        AddFields(query.Where);
        Add("endpoint", query.Endpoint);
        Add("process", query.Process);
        Add("party", query.Party);
        Add("trace_id", query.TraceId);
        if (query.MessageId is { } message)
            Add($"e.message_id = {Parameter("message", message)}");
        // Constants, so that the indexes of failures and of rare kinds can be used.
        if (query.Kind is { } kind)
            Add(
                PostgresFactGroups.Kinds.Contains(kind)
                    ? FormattableString.Invariant($"(e.kind = '{kind}' or e.part_kinds & {PostgresFactGroups.BitOf(kind)} <> 0)")
                    : $"e.kind = '{kind}'"
            );
        else if (query.OnlyFailures)
            Add($"e.kind in ({string.Join(", ", AuditQuery.Failures.Select(failure => $"'{failure}'"))})");
        if (query.From is { } from)
            AddFrom(from);
        if (query.To is { } to)
            AddTo(to);
        if (query.Before is { } before)
            AddBefore(before);
        if (rowsBefore is { } row)
            AddRowsBefore(row);
    }

    public DynamicParameters Parameters { get; } = new();

    public string Sql => $"from {string.Join(' ', _tables)}{(_conditions.Count == 0 ? "" : $" where {string.Join(" and ", _conditions)}")}";

    private void AddFields(IReadOnlyDictionary<string, string> fields)
    {
        foreach (var field in fields.Take(MostLeading))
        {
            var number = _tables.Count;
            var table = $"f{number}";
            var (name, value) = PostgresFields.Indexed(field);
            _tables.Add($"join audit_field {table} on {table}.event_id = e.id and {table}.occurred_at = e.occurred_at");
            _keys.Add(($"{table}.event_id", $"{table}.occurred_at"));
            Add($"{table}.name = {Parameter($"name{number}", name)}");
            Add($"{table}.value = {Parameter($"value{number}", value)}");
        }

        if (fields.Count > MostLeading || !fields.All(PostgresFields.IsIndexedWhole))
            Add($"e.fields @> {Parameter("fields", StoredJson.Of(fields))}::jsonb");
    }

    private void AddFrom(DateTimeOffset from)
    {
        var (time, id) = (Parameter("from", from.UtcDateTime), Parameter("fromId", FactIds.FirstOf(from, -Slack)));
        foreach (var key in _keys)
            Add($"{key.Time} >= {time} and {key.Id} >= {id}");
    }

    private void AddTo(DateTimeOffset to)
    {
        var (time, id) = (Parameter("to", Later(to, PostgresFactGroups.Longest)), Parameter("toId", FactIds.FirstOf(to, Slack)));
        foreach (var key in _keys)
            Add($"{key.Time} < {time} and {key.Id} < {id}");
        Add($"(e.first_id is not null or e.occurred_at < {Parameter("exactTo", to.UtcDateTime)})");
    }

    private void AddBefore(Guid before)
    {
        Add($"coalesce(e.first_id, e.id) < {Parameter("before", before)}");
        if (FactIds.TimeOf(before) is not { } made || made > DateTimeOffset.MaxValue - Slack)
            return;
        // to the millisecond after the longest row: ids have whole milliseconds
        var id = Parameter("beforeId", FactIds.FirstOf(made, PostgresFactGroups.Longest + TimeSpan.FromMilliseconds(1)));
        var time = Parameter("beforeTime", (made + Slack).UtcDateTime);
        foreach (var key in _keys)
            Add($"{key.Time} < {time} and {key.Id} < {id}");
    }

    private void AddRowsBefore(Guid row)
    {
        var id = Parameter("row", row);
        foreach (var key in _keys)
            Add($"{key.Id} < {id}");
    }

    private void Add(string column, string? value)
    {
        if (value is not null)
            Add($"e.{column} = {Parameter(column, SqlText.Clean(value))}");
    }

    private void Add(string condition) => _conditions.Add(condition);

    private string Parameter(string name, object value)
    {
        Parameters.Add(name, value);
        return $"@{name}";
    }

    private static DateTime Later(DateTimeOffset time, TimeSpan span) =>
        time > DateTimeOffset.MaxValue - span ? DateTime.SpecifyKind(DateTime.MaxValue, DateTimeKind.Utc) : (time + span).UtcDateTime;
}
