using System.Runtime.CompilerServices;
using Esb.Core.Errors;
using Esb.Storage.Encryption;
using Esb.Storage.Segments;
using Esb.Storage.Sql;
using Esb.Storage.TakeOver;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Sqlite;

/// <summary>The database of a folder, for one host, or for reading beside it. Thread-safe.</summary>
internal sealed class SqliteDatabase : SqlDatabase, IAsyncDisposable
{
    /// <summary>Its name in the folder.</summary>
    public const string FileName = "store.db";

    // 16 MiB.
    private const int PagesAtOnce = 4096;

    // Reads beside a host delay the checkpoints of its writer.
    private static readonly TimeSpan BesideAHost = TimeSpan.FromSeconds(1);

    private readonly string _folder;
    private readonly string? _configuration;
    private readonly TimeProvider _time;
    private readonly bool _takesEarlier;
    private readonly SqliteReaders _readers;
    private readonly DiskProbe _probe;
    private readonly ILogger _logger;
    private SqliteFile _file;
    private SqliteWriter? _writer;

    private SqliteDatabase(
        string folder,
        TimeProvider time,
        TimeSpan? limit,
        ILogger logger,
        string? configuration,
        BodyCipher cipher,
        bool takesEarlier = false
    )
        : base(SqliteDialect.Instance, cipher)
    {
        _file = new SqliteFile(System.IO.Path.Combine(folder, FileName), time);
        (_folder, _configuration, _time, _takesEarlier) = (folder, configuration, time, takesEarlier);
        _probe = new DiskProbe(folder);
        _logger = logger;
        _readers = new SqliteReaders(limit is null ? () => _file.OpenReader() : OpenBesideAHost, limit);

        SqliteConnection OpenBesideAHost()
        {
            EarlierFolder.RefuseToRead(folder);
            var file = Share(_file.Exists ? FindOwner() : null);
            return file.Exists ? OpenChecked(file) : SqliteFile.OpenEmpty(time);
        }
    }

    /// <summary>The path of its file.</summary>
    public string Path => _file.Path;

    /// <summary>True for the folder's own database; false for the database of a further configuration.</summary>
    public bool IsOwner { get; private set; } = true;

    /// <summary>The reason why the database cannot be written; null if it can.</summary>
    public string? Trouble => _probe.FindTrouble();

    /// <summary>The database of a host, which holds the lock of the folder; opened by <see cref="Open"/>.</summary>
    /// <param name="folder">The folder.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">The logger.</param>
    /// <param name="configuration">The configuration that uses the database; null for its owner, whichever that is.</param>
    /// <param name="cipher">Encrypts bodies; null to store them as they are.</param>
    public static SqliteDatabase OfHost(
        string folder,
        TimeProvider time,
        ILogger logger,
        string? configuration = null,
        BodyCipher? cipher = null
    ) => new(folder, time, limit: null, logger, configuration, cipher ?? BodyCipher.None);

    /// <summary>The database for reading, also beside a host. A missing database is empty.</summary>
    /// <param name="folder">The folder.</param>
    /// <param name="logger">The logger.</param>
    /// <param name="configuration">The configuration that uses the database; null for its owner, whichever that is.</param>
    /// <param name="cipher">Decrypts bodies; null if they are stored as they are.</param>
    /// <param name="takesEarlier">True to read also tables of an earlier version of the program.</param>
    public static SqliteDatabase OfReader(
        string folder,
        ILogger logger,
        string? configuration = null,
        BodyCipher? cipher = null,
        bool takesEarlier = false
    ) => new(folder, TimeProvider.System, BesideAHost, logger, configuration, cipher ?? BodyCipher.None, takesEarlier);

    /// <summary>Opens or creates the file, and migrates its tables to the version of this program.</summary>
    /// <exception cref="EsbException"><c>ESB-STORE-VERSION</c>; <c>ESB-STORE-DAMAGED</c>; <c>ESB-STORE-FOLDER</c>.</exception>
    public void Open()
    {
        SqliteConnection? connection = null;
        try
        {
            connection = OpenMigrated();
            if (_configuration is not null && SqliteSchema.Own(connection, _configuration) is var owner && owner != _configuration)
            {
                connection.Dispose();
                (_file, IsOwner) = (Share(owner), false);
                connection = OpenMigrated();
            }

            SqliteSchema.LookForDamage(connection, _file.Path);
            _writer = new SqliteWriter(connection, _probe, _logger);
        }
        catch (Exception ex)
        {
            connection?.Dispose();
            if (ex is EsbException || !SqliteErrors.IsFailure(ex))
                throw;
            throw SqliteErrors.NotWritten(ex) is { Code: "ESB-STORE-DAMAGED" }
                ? SqliteErrors.Damaged(_file.Path, ex.Message, ex)
                : new EsbException(
                    "ESB-STORE-FOLDER",
                    $"The database '{_file.Path}' cannot be opened: {ex.Message}",
                    FaultKind.Internal,
                    ex
                );
        }
    }

    /// <summary>Returns some unused space to the disk.</summary>
    public Task ShrinkAsync(CancellationToken cancellationToken) =>
        TransactAsync(session => session.QueryAsync($"pragma incremental_vacuum({PagesAtOnce})", _ => true), cancellationToken);

    public override Task<T> ReadAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken) =>
        _readers.RunAsync(work, cancellationToken);

    public override Task<T> WriteAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken, bool isRepeatable = false) =>
        TransactAsync(work, cancellationToken);

    public override Task<T> TransactAsync<T>(Func<SqlSession, Task<T>> work, CancellationToken cancellationToken) =>
        (_writer ?? throw new InvalidOperationException("This store was opened for reading.")).RunAsync(work, cancellationToken);

    public override async IAsyncEnumerable<T> SearchAsync<T>(
        string sql,
        IReadOnlyList<(string Name, object? Value)> parameters,
        Func<SqlRow, T> read,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        // Reads all rows at once: a slow reader must not delay the checkpoints.
        foreach (var row in await QueryAsync(sql, read, cancellationToken, [.. parameters]))
            yield return row;
    }

    public override bool IsRefusal(Exception exception) => SqliteErrors.IsRefusal(exception);

    public async ValueTask DisposeAsync()
    {
        await _readers.DisposeAsync(); // the writer is closed last, and leaves one file
        if (_writer is not null)
            await _writer.DisposeAsync();
    }

    protected override Task<TimeSpan> AdvanceAsync(CancellationToken cancellationToken) => Task.FromResult(TimeSpan.Zero);

    private SqliteConnection OpenMigrated()
    {
        var connection = _file.OpenWriter();
        try
        {
            SqliteSchema.Migrate(connection, _file.Path);
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    private string? FindOwner()
    {
        using var connection = OpenChecked(_file);
        return SqliteSchema.FindOwner(connection);
    }

    private SqliteFile Share(string? owner) =>
        owner is null || _configuration is null || owner == _configuration
            ? _file
            : new SqliteFile(System.IO.Path.Combine(_folder, StoreShare.FileOf(_configuration)), _time);

    private SqliteConnection OpenChecked(SqliteFile file)
    {
        var connection = file.OpenReader();
        try
        {
            SqliteSchema.CheckToRead(connection, file.Path, _takesEarlier);
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }
}
