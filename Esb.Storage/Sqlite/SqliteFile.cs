using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Esb.Storage.Sqlite;

/// <summary>The file of a database, and its connections.</summary>
internal sealed class SqliteFile(string path, TimeProvider time)
{
    // Longer than a checkpoint takes; there are no other writers, unless an operator writes by hand.
    private const int BusySeconds = 5;

    // The number of steps between two checks of the clock while a reader beside a host runs a query.
    private const int StepsBetweenLooks = 20_000;

    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>The path of the file.</summary>
    public string Path => path;

    public bool Exists => File.Exists(path);

    /// <summary>Opens the connection of the one writer; creates a missing file, which only its owner may read.</summary>
    public SqliteConnection OpenWriter()
    {
        if (!Exists)
            Create();
        var connection = Open(SqliteOpenMode.ReadWrite, path);
        // A write-ahead log; every commit is on disk before it is acknowledged.
        Run(
            connection,
            "pragma auto_vacuum = incremental; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;"
        );
        return connection;
    }

    /// <summary>Opens a read-only connection.</summary>
    public SqliteConnection OpenReader()
    {
        var connection = Open(SqliteOpenMode.ReadOnly, path);
        Run(connection, "pragma query_only = on;");
        return connection;
    }

    /// <summary>An empty database in memory, with the tables of this version.</summary>
    public static SqliteConnection OpenEmpty(TimeProvider time)
    {
        var connection = new SqliteFile(":memory:", time).Open(SqliteOpenMode.Memory, ":memory:");
        SqliteSchema.Migrate(connection, ":memory:");
        return connection;
    }

    /// <summary>Ends queries of a connection that take longer: reads delay the writer's checkpoints.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="isOver">Returns true once the time is over.</param>
    public static void Limit(SqliteConnection connection, Func<bool> isOver) =>
        raw.sqlite3_progress_handler(connection.Handle, StepsBetweenLooks, _ => isOver() ? 1 : 0, null);

    public static void Run(SqliteConnection connection, string sql)
    {
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }

    public static long Number(SqliteConnection connection, string sql)
    {
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        return (long)command.ExecuteScalar()!;
    }

    public static string Text(SqliteConnection connection, string sql)
    {
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        return (string)command.ExecuteScalar()!;
    }

    private SqliteConnection Open(SqliteOpenMode mode, string source)
    {
        var settings = new SqliteConnectionStringBuilder
        {
            DataSource = source,
            Mode = mode,
            Pooling = false,
            DefaultTimeout = BusySeconds,
        };
        var connection = new SqliteConnection(settings.ConnectionString);
        try
        {
            connection.Open();
            SqliteFunctions.Add(connection, time);
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    private void Create()
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = OwnerOnly; // the files beside it get the same
        using var file = new FileStream(path, options);
    }
}
