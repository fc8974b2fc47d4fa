using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Esb.Storage.Sqlite;

/// <summary>The file of a database, and how it is opened.</summary>
internal sealed class SqliteFile(string path, TimeProvider time)
{
    // Longer than a checkpoint takes; nobody else writes, unless an operator does by hand.
    private const int BusySeconds = 5;

    // Between two looks at the clock while a reader beside a host asks.
    private const int StepsBetweenLooks = 20_000;

    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Where it is.</summary>
    public string Path => path;

    public bool Exists => File.Exists(path);

    /// <summary>The connection of the one writer; makes the file where there is none, which only its owner may read.</summary>
    public SqliteConnection OpenWriter()
    {
        if (!Exists) Create();
        var connection = Open(SqliteOpenMode.ReadWrite, path);
        // A write-ahead log, of which every commit is on the disk before it is answered.
        Run(connection, "pragma auto_vacuum = incremental; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;");
        return connection;
    }

    /// <summary>A connection that can change nothing.</summary>
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

    /// <summary>Ends questions of a connection that take longer: what is read holds up the writer's checkpoints.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="isOver">Whether the time is over.</param>
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
        var settings = new SqliteConnectionStringBuilder { DataSource = source, Mode = mode, Pooling = false, DefaultTimeout = BusySeconds };
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
        if (!OperatingSystem.IsWindows()) options.UnixCreateMode = OwnerOnly; // the files beside it get the same
        using var file = new FileStream(path, options);
    }
}
