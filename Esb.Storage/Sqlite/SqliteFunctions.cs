using Microsoft.Data.Sqlite;

namespace Esb.Storage.Sqlite;

/// <summary>The functions of PostgreSQL that statements of the stores use and SQLite lacks. They use the clock of the host.</summary>
internal static class SqliteFunctions
{
    public static void Add(SqliteConnection connection, TimeProvider time)
    {
        connection.CreateFunction("now", () => SqliteDialect.ToStored(time.GetUtcNow()));
        connection.CreateFunction("clock_timestamp", () => SqliteDialect.ToStored(time.GetUtcNow()));
        connection.CreateFunction<long, long, long>("least", Math.Min, isDeterministic: true);
        connection.CreateFunction<long, long, long>("greatest", Math.Max, isDeterministic: true);
        connection.CreateFunction<string, string, long>(
            "strpos",
            (text, part) => text.IndexOf(part, StringComparison.Ordinal) + 1,
            isDeterministic: true
        );
        connection.CreateFunction<byte[]?, string, string>(
            "encode",
            (bytes, _) => Convert.ToHexStringLower(bytes ?? []),
            isDeterministic: true
        ); // always as hex; empty bytes come as null
        // SQLite's own function knows only ASCII.
        connection.CreateFunction<string?, string?>("lower", text => text?.ToLowerInvariant(), isDeterministic: true);
    }
}
