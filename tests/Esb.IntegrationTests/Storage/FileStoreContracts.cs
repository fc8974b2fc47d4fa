using Esb.Core.Audit;
using Esb.Core.Storage;
using Esb.IntegrationTests.Storage.Audit;
using Esb.Storage;
using Esb.Storage.Files;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Storage;

public sealed class FileAuditStoreTests : AuditStoreContract
{
    private readonly TestFolder _folder = new();

    protected override async Task<IAuditStore> OpenAsync() => (await _folder.OpenAsync()).Audit;

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class FileDeadLetterStoreTests : DeadLetterStoreContract
{
    private readonly TestFolder _folder = new();

    private protected override async Task<Store> OpenAsync() => await _folder.OpenAsync();

    private protected override async Task<Store> ReopenAsync() => await _folder.ReopenAsync();

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class FileReplayJobStoreTests : ReplayJobStoreContract
{
    private readonly TestFolder _folder = new();

    private protected override async Task<Store> OpenAsync() => await _folder.OpenAsync();

    private protected override async Task<Store> ReopenAsync() => await _folder.ReopenAsync();

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class FileLetterRetentionTests : LetterRetentionContract
{
    private readonly TestFolder _folder = new();

    private protected override async Task<Store> OpenAsync() => await _folder.OpenAsync();

    private protected override async Task<Store> ReopenAsync() => await _folder.ReopenAsync();

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class FileParkingStoreTests : ParkingStoreContract
{
    private readonly TestFolder _folder = new();

    protected override async Task<IParkingStore> OpenAsync() => (await _folder.OpenAsync()).Parking;

    protected override async Task<IParkingStore> ReopenAsync() => (await _folder.ReopenAsync()).Parking;

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class FileCrashMarksTests : CrashMarksContract
{
    private readonly TestFolder _folder = new();

    protected override async Task<ICrashMarks> OpenAsync() => (await _folder.OpenAsync()).CrashMarks;

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class FileAttemptStoreTests : AttemptStoreContract
{
    private readonly TestFolder _folder = new();

    private protected override async Task<Store> OpenAsync() => await _folder.OpenAsync();

    private protected override async Task<Store> ReopenAsync() => await _folder.ReopenAsync();

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class FileIdempotencyKeysContract : IdempotencyKeysContract
{
    private readonly TestFolder _folder = new();

    protected override async Task<IIdempotencyKeys> OpenAsync() => (await _folder.OpenAsync()).IdempotencyKeys;

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class FileLeaseStoreTests : LeaseStoreContract
{
    private readonly TestFolder _folder = new();

    protected override async Task<ILeaseStore> OpenAsync() => (await _folder.OpenAsync()).Leases;

    protected override Task CloseAsync() => _folder.CloseAsync();
}

/// <summary>A file store in a folder of its own.</summary>
internal sealed class TestFolder
{
    private FileStoreConfig _config = null!;
    private FileStore _store = null!;

    public Task<FileStore> OpenAsync()
    {
        _config = new FileStoreConfig { Folder = Directory.CreateTempSubdirectory("esb-").FullName };
        return StartAsync();
    }

    /// <summary>As after the end of the process.</summary>
    public async Task<FileStore> ReopenAsync()
    {
        await _store.DisposeAsync();
        return await StartAsync();
    }

    public async Task CloseAsync()
    {
        await _store.DisposeAsync();
        Directory.Delete(_config.Folder, recursive: true);
    }

    private async Task<FileStore> StartAsync()
    {
        _store = new FileStore(_config, TimeProvider.System, NullLogger<FileStore>.Instance);
        await _store.StartAsync(default);
        return _store;
    }
}
