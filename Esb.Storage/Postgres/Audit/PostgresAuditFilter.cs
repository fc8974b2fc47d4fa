using System.Buffers.Binary;
using Dapper;
using Esb.Core.Audit;
using Esb.Storage.Sql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>The SQL that selects the rows of <c>audit_event</c> for a query: its tables and its conditions.</summary>
/// <remarks>Each requested field is a row of <c>audit_field</c>, so that the rarest of them can lead. Time conditions apply to every table,
/// so that partitions of other days are not opened.</remarks>
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

    public PostgresAuditFilter(AuditQuery query)
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
            Add($"e.kind = '{kind}'");
        else if (query.OnlyFailures)
            Add($"e.kind in ({string.Join(", ", AuditQuery.Failures.Select(failure => $"'{failure}'"))})");
        if (query.From is { } from)
            AddFrom(from);
        if (query.To is { } to)
            AddTo(to);
        if (query.Before is { } before)
            AddBefore(before);
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
        var (time, id) = (Parameter("from", from.UtcDateTime), Parameter("fromId", FirstIdOf(from, -Slack)));
        foreach (var key in _keys)
            Add($"{key.Time} >= {time} and {key.Id} >= {id}");
    }

    private void AddTo(DateTimeOffset to)
    {
        var (time, id) = (Parameter("to", to.UtcDateTime), Parameter("toId", FirstIdOf(to, Slack)));
        foreach (var key in _keys)
            Add($"{key.Time} < {time} and {key.Id} < {id}");
    }

    private void AddBefore(Guid before)
    {
        var id = Parameter("before", before);
        foreach (var key in _keys)
            Add($"{key.Id} < {id}");
        if (TimeOf(before) is not { } made || made > DateTimeOffset.MaxValue - Slack)
            return;
        var time = Parameter("beforeTime", (made + Slack).UtcDateTime);
        foreach (var key in _keys)
            Add($"{key.Time} < {time}");
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

    // The smallest version 7 UUID of a time plus an offset.
    private static Guid FirstIdOf(DateTimeOffset time, TimeSpan later)
    {
        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        BinaryPrimitives.WriteInt64BigEndian(bytes, Math.Max(time.ToUnixTimeMilliseconds() + (long)later.TotalMilliseconds, 0) << 16);
        return new Guid(bytes, bigEndian: true);
    }

    // Null if the id contains no valid time.
    private static DateTimeOffset? TimeOf(Guid id)
    {
        Span<byte> bytes = stackalloc byte[16];
        id.TryWriteBytes(bytes, bigEndian: true, out _);
        var milliseconds = (long)(BinaryPrimitives.ReadUInt64BigEndian(bytes) >> 16);
        return milliseconds > DateTimeOffset.MaxValue.ToUnixTimeMilliseconds()
            ? null
            : DateTimeOffset.FromUnixTimeMilliseconds(milliseconds);
    }
}
