using Esb.Storage;
using Esb.Storage.Encryption;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Esb.Tests.Fakes;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Storage.Sqlite;

/// <summary>The embedded store in a folder of its own, which can be closed and opened again.</summary>
internal sealed class EmbeddedStore : IAsyncDisposable
{
    private readonly ILoggerFactory _loggers;

    public EmbeddedStore() => _loggers = LoggerFactory.Create(logging => logging.AddProvider(Lines));

    public ManualTime Time { get; } = new();

    public LogLines Lines { get; } = new();

    /// <summary>What encrypts bodies from the next opening on.</summary>
    public IReadOnlyList<EncryptionKeyConfig> Keys { get; set; } = [];

    public FileStoreConfig Config { get; } = new() { Folder = Directory.CreateTempSubdirectory("esb-store-").FullName };

    public FileStore Store { get; private set; } = null!;

    public string Database => Path.Combine(Config.Folder, "store.db");

    public async Task<FileStore> OpenAsync(CancellationToken cancellationToken)
    {
        Store = new FileStore(Config with { EncryptionKeys = Keys }, SegmentOptions.Default, Time, _loggers.CreateLogger<FileStore>());
        await Store.StartAsync(cancellationToken);
        return Store;
    }

    /// <summary>As after the end of the process.</summary>
    public async Task<FileStore> ReopenAsync(CancellationToken cancellationToken)
    {
        await Store.DisposeAsync();
        return await OpenAsync(cancellationToken);
    }

    public StoreReader Read() => StoreReader.Open(Config, _loggers.CreateLogger("reader"));

    /// <summary>Asks the file itself.</summary>
    public T Ask<T>(string sql)
    {
        using var connection = new SqliteConnection($"Data Source={Database};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        return (T)command.ExecuteScalar()!;
    }

    public async ValueTask DisposeAsync()
    {
        if (Store is not null)
            await Store.DisposeAsync();
        _loggers.Dispose();
        Lines.Dispose();
        Directory.Delete(Config.Folder, recursive: true);
    }
}
