using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres;

/// <summary>A column of many rows as one parameter, for <c>unnest</c>.</summary>
internal static class PostgresArray
{
    public static NpgsqlParameter<TValue[]> Of<TRow, TValue>(IReadOnlyList<TRow> rows, NpgsqlDbType type, Func<TRow, TValue> value) =>
        new() { NpgsqlDbType = NpgsqlDbType.Array | type, TypedValue = [.. rows.Select(value)] };
}
