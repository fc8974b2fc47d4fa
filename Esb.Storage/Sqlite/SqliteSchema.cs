using Esb.Core.Errors;
using Esb.Storage.Sql;
using Microsoft.Data.Sqlite;

namespace Esb.Storage.Sqlite;

/// <summary>
/// Brings the tables of a file to the version of this program, and refuses a file that is not fit for it. The version, which is the highest
/// number of its migrations, is in the head of the file; a table has all numbers, because a later migration may have a lower one.
/// </summary>
internal static class SqliteSchema
{
    // "ESB1" in the head of the file says whose it is.
    private const long ApplicationId = 0x45_53_42_31;

    // Looking through all of a larger file would hold up each start: its damage shows when it is read.
    private const long CheckedBytes = 256L << 20;

    private static readonly IReadOnlyList<SqlMigration> Migrations = SqlMigration.Of("sqlite");

    // Release 0.2.0 kept only the version, 21, and did not have these.
    private static readonly (int Number, string Count)[] Late =
    [
        (17, "select count(*) from sqlite_master where name = 'workflow_tally'"),
        (18, "select count(*) from pragma_table_info('outbox') where name = 'reply_to'"),
        (19, "select count(*) from sqlite_master where name = 'letter_edit'"),
    ];

    public static int Version => Migrations[^1].Number;

    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>: a newer program wrote it. <c>ESB-STORE-DAMAGED</c>.</exception>
    public static void Migrate(SqliteConnection connection, string path)
    {
        var version = Check(connection, path);
        var applied = ReadApplied(connection, version);
        if (!HasNumbers(connection))
            SqliteFile.Run(
                connection,
                $"begin immediate; create table schema_version (number integer primary key) strict; "
                    + $"{string.Concat(applied.Select(Note))} commit;"
            );
        foreach (var migration in Migrations.Where(migration => !applied.Contains(migration.Number)))
        {
            version = Math.Max(version, migration.Number);
            SqliteFile.Run(
                connection,
                $"begin immediate; {migration.Sql}; {Note(migration.Number)} pragma user_version = {version}; pragma application_id = "
                    + $"{ApplicationId}; commit;"
            );
        }
    }

    /// <summary>Checks the tables for read-only use; changes nothing.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="path">The file.</param>
    /// <param name="takesEarlier">True to accept those of an earlier version.</param>
    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>: it is of another version. <c>ESB-STORE-DAMAGED</c>.</exception>
    public static void CheckToRead(SqliteConnection connection, string path, bool takesEarlier)
    {
        var version = Check(connection, path);
        if (!takesEarlier && ReadApplied(connection, version).Count < Migrations.Count)
            throw Wrong($"The database '{path}' is of an earlier version; start a host of this version once.");
    }

    /// <summary>Takes the database for a configuration, unless another has it.</summary>
    /// <returns>Whose it is.</returns>
    public static string Own(SqliteConnection connection, string configuration)
    {
        using var claim = connection.CreateCommand();
        claim.CommandText = "insert into store_owner (name, only_one) values ($name, 1) on conflict do nothing";
        claim.Parameters.AddWithValue("$name", configuration);
        claim.ExecuteNonQuery();
        return FindOwner(connection)!;
    }

    /// <summary>The configuration that has the database; null where none has taken it yet.</summary>
    public static string? FindOwner(SqliteConnection connection)
    {
        using var ask = connection.CreateCommand();
        ask.CommandText = "select name from store_owner";
        return (string?)ask.ExecuteScalar();
    }

    /// <summary>Looks through the file, where that does not take long.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-DAMAGED</c>.</exception>
    public static void LookForDamage(SqliteConnection connection, string path)
    {
        if (new FileInfo(path).Length > CheckedBytes)
            return;
        if (SqliteFile.Text(connection, "pragma quick_check(1)") is not "ok" and var found)
            throw SqliteErrors.Damaged(path, found);
    }

    public static EsbException Wrong(string message) => new("ESB-STORE-VERSION", message, FaultKind.Internal);

    private static long Check(SqliteConnection connection, string path)
    {
        var (owner, version) = (
            SqliteFile.Number(connection, "pragma application_id"),
            SqliteFile.Number(connection, "pragma user_version")
        );
        if (owner != ApplicationId && (owner != 0 || version != 0))
            throw SqliteErrors.Damaged(path, "it is not a database of a store");
        if (version > Version)
            throw Wrong($"The database '{path}' has version {version}; this program knows it up to version {Version}.");
        return version;
    }

    private static string Note(int number) => $"insert into schema_version (number) values ({number});";

    private static bool HasNumbers(SqliteConnection connection) =>
        SqliteFile.Number(connection, "select count(*) from sqlite_master where name = 'schema_version'") > 0;

    private static HashSet<int> ReadApplied(SqliteConnection connection, long version)
    {
        var numbers = Migrations.Select(migration => migration.Number).Where(number => number <= version);
        return HasNumbers(connection)
            ? [.. numbers.Where(number => IsTrue($"select count(*) from schema_version where number = {number}"))]
            : [.. numbers.Where(number => Late.All(late => late.Number != number || IsTrue(late.Count)))];

        bool IsTrue(string count) => SqliteFile.Number(connection, count) > 0;
    }
}
