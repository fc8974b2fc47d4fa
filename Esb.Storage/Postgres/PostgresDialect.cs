using System.Data.Common;
using System.Globalization;
using Esb.Storage.Sql;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres;

/// <inheritdoc/>
internal sealed class PostgresDialect : SqlDialect
{
    public static readonly PostgresDialect Instance = new();

    private PostgresDialect() { }

    public override string ForUpdate => " for update";

    public override string ForUpdateSkipLocked => " for update skip locked";

    public override string ForShare => " for share";

    public override string Epoch => "extract(epoch from clock_timestamp())::bigint";

    // A host that falls silent in between must not make the others wait for as long as its connection looks alive.
    public override string LimitSilence => "select set_config('idle_in_transaction_session_timeout', '5s', true)";

    public override string Lock(string name) =>
        $"{LimitSilence}, set_config('lock_timeout', '5s', true), pg_advisory_xact_lock(hashtextextended({name}, 0))";

    public override string NextNumber(string table) => "default";

    public override string IsOneOf(string expression, string parameter) => $"{expression} = any(@{parameter})";

    public override string IsAmong(string expression, string query) => $"{expression} = any(array({query}))";

    public override string Left(string expression, int length) => $"left({expression}, {length.ToString(CultureInfo.InvariantCulture)})";

    public override string Without(string json, string member, string inner) => $"{json} #- '{{{member},{inner}}}'";

    public override string Rows(SqlRows rows) =>
        $"unnest({string.Join(", ", rows.Columns.Select(column => $"@{NameOf(rows, column)}"))}) as {rows.Name} "
        + $"({string.Join(", ", rows.Columns.Select(column => column.Name))})";

    public override void Bind(DbCommand command, string name, object? value) =>
        command.Parameters.Add(
            value switch
            {
                null => new NpgsqlParameter(name, DBNull.Value),
                string text => new NpgsqlParameter<string>(name, NpgsqlDbType.Text) { TypedValue = SqlText.Clean(text) },
                SqlJson json => new NpgsqlParameter<string>(name, NpgsqlDbType.Jsonb) { TypedValue = json.Text },
                DateTimeOffset time => new NpgsqlParameter<DateTime>(name, NpgsqlDbType.TimestampTz) { TypedValue = time.UtcDateTime },
                TimeSpan duration => new NpgsqlParameter<TimeSpan>(name, NpgsqlDbType.Interval) { TypedValue = duration },
                ReadOnlyMemory<byte> bytes => new NpgsqlParameter<ReadOnlyMemory<byte>>(name, NpgsqlDbType.Bytea) { TypedValue = bytes },
                Enum state => new NpgsqlParameter<string>(name, NpgsqlDbType.Text) { TypedValue = state.ToString() },
                _ => new NpgsqlParameter(name, value),
            }
        );

    public override void Bind(DbCommand command, SqlRows rows)
    {
        foreach (var column in rows.Columns)
            command.Parameters.Add(Array(NameOf(rows, column), column));
    }

    public override DateTimeOffset ReadTime(DbDataReader reader, int ordinal) => new(reader.GetFieldValue<DateTime>(ordinal));

    private static string NameOf(SqlRows rows, SqlColumn column) => $"{rows.Name}_{column.Name}";

    private static NpgsqlParameter Array(string name, SqlColumn column) =>
        column.Type switch
        {
            SqlType.Text => Array(name, column, NpgsqlDbType.Text, value => SqlText.Clean((string?)value)),
            SqlType.Json => Array(name, column, NpgsqlDbType.Jsonb, value => ((SqlJson?)value)?.Text),
            SqlType.Id => Array(name, column, NpgsqlDbType.Uuid, value => (Guid?)value),
            SqlType.Time => Array(name, column, NpgsqlDbType.TimestampTz, value => ((DateTimeOffset?)value)?.UtcDateTime),
            SqlType.Flag => Array(name, column, NpgsqlDbType.Boolean, value => (bool?)value),
            SqlType.Number => Array(name, column, NpgsqlDbType.Integer, value => (int?)value),
            SqlType.Long => Array(name, column, NpgsqlDbType.Bigint, value => (long?)value),
            SqlType.Duration => Array(name, column, NpgsqlDbType.Interval, value => (TimeSpan?)value),
            SqlType.Bytes => Array(name, column, NpgsqlDbType.Bytea, value => ((ReadOnlyMemory<byte>)value!).ToArray()),
            _ => throw new ArgumentOutOfRangeException(nameof(column)),
        };

    private static NpgsqlParameter<T[]> Array<T>(string name, SqlColumn column, NpgsqlDbType type, Func<object?, T> read) =>
        new(name, NpgsqlDbType.Array | type) { TypedValue = [.. column.Values.Select(read)] };
}
