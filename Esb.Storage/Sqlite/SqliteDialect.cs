using System.Data.Common;
using System.Globalization;
using System.Text.Json.Nodes;
using Esb.Storage.Sql;
using Microsoft.Data.Sqlite;

namespace Esb.Storage.Sqlite;

/// <inheritdoc/>
/// <remarks>
/// Ids are text, times are 100 ns since 1970 (<c>datetime(x / 10000000, 'unixepoch')</c> shows one), JSON is text. There is one writer, so
/// nothing needs to be locked.
/// </remarks>
internal sealed class SqliteDialect : SqlDialect
{
    public static readonly SqliteDialect Instance = new();

    private SqliteDialect() { }

    public override string ForUpdate => "";

    public override string ForUpdateSkipLocked => "";

    public override string ForShare => "";

    public override string Epoch => "clock_timestamp() / 10000000";

    public override string LimitSilence => "select 1"; // the file has one process

    public override string Lock(string name) => "select 1";

    // Larger than that of all before, also of those that are gone: a trigger keeps the sequence up.
    public override string NextNumber(string table) => $"(select seq + 1 from sqlite_sequence where name = '{table}')";

    public override string IsOneOf(string expression, string parameter) => $"{expression} in (select value from json_each(@{parameter}))";

    public override string IsAmong(string expression, string query) => $"{expression} in ({query})";

    public override string Left(string expression, int length) =>
        $"substr({expression}, 1, {length.ToString(CultureInfo.InvariantCulture)})";

    public override string Without(string json, string member, string inner) => $"json_remove({json}, '$.{member}.{inner}')";

    public override string Rows(SqlRows rows)
    {
        var columns = rows.Columns.Select(
            (column, place) =>
                column.Type == SqlType.Bytes
                    ? string.Create(CultureInfo.InvariantCulture, $"unhex(json_extract(value, '$[{place}]')) as {column.Name}")
                    : string.Create(CultureInfo.InvariantCulture, $"json_extract(value, '$[{place}]') as {column.Name}")
        );
        return $"(select {string.Join(", ", columns)} from json_each(@{rows.Name})) as {rows.Name}";
    }

    public override void Bind(DbCommand command, string name, object? value) =>
        command.Parameters.Add(new SqliteParameter($"@{name}", ToStored(value)));

    public override void Bind(DbCommand command, SqlRows rows)
    {
        var array = new JsonArray();
        for (var row = 0; row < rows.Count; row++)
            array.Add(new JsonArray([.. rows.Columns.Select(column => ToNode(ToStored(column.Values[row])))]));
        command.Parameters.Add(new SqliteParameter($"@{rows.Name}", array.ToJsonString()));
    }

    public override DateTimeOffset ReadTime(DbDataReader reader, int ordinal) => FromStored(reader.GetInt64(ordinal));

    /// <summary>A time as it is kept.</summary>
    public static long ToStored(DateTimeOffset time) => time.UtcTicks - DateTimeOffset.UnixEpoch.Ticks;

    private static DateTimeOffset FromStored(long time) => new(time + DateTimeOffset.UnixEpoch.Ticks, TimeSpan.Zero);

    private static object ToStored(object? value) =>
        value switch
        {
            null => DBNull.Value,
            string text => SqlText.Clean(text),
            SqlJson json => json.Text,
            Guid id => id.ToString(),
            Guid[] ids => new JsonArray([.. ids.Select(id => (JsonNode)id.ToString())]).ToJsonString(),
            string[] texts => new JsonArray([.. texts.Select(text => (JsonNode)text)]).ToJsonString(),
            DateTimeOffset time => ToStored(time),
            TimeSpan duration => duration.Ticks,
            ReadOnlyMemory<byte> bytes => bytes.ToArray(),
            bool flag => flag ? 1L : 0L,
            int number => (long)number,
            Enum state => state.ToString(),
            _ => value,
        };

    private static JsonNode? ToNode(object value) =>
        value switch
        {
            DBNull => null,
            string text => text,
            long number => number,
            byte[] bytes => Convert.ToHexString(bytes),
            _ => throw new ArgumentException($"{value.GetType().Name} is not a type of a column of rows.", nameof(value)),
        };
}
