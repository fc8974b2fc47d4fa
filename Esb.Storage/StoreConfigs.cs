using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Storage;
using Esb.Storage.Encryption;

namespace Esb.Storage;

/// <summary>The store that needs no server.</summary>
internal sealed record FileStoreConfig : StoreConfig, IEncryptingStoreConfig
{
    [Setting(
        "The folder of audit facts and of the database for everything else, on a disk of this machine; in the working directory "
            + "where none is named.",
        IsPath = true
    )]
    public override string Folder { get; init; } = "esb-data";

    [Setting(
        "A folder that all hosts share, for large bodies, which then travel as a reference; without it they travel whole.",
        IsPath = true
    )]
    public string? Claims { get; init; }

    [Setting("Encrypts stored bodies (AES-256-GCM): the first key encrypts, all decrypt.")]
    public IReadOnlyList<EncryptionKeyConfig> EncryptionKeys { get; init; } = [];

    public override bool KeepsStreams => Claims is not null && EncryptionKeys.Count == 0;
}

/// <summary>PostgreSQL 15 or later.</summary>
internal sealed record PostgresStoreConfig : StoreConfig, IEncryptingStoreConfig
{
    [Setting("The connection string.", MayHoldPassword = true)]
    public required string Connection { get; init; }

    [Setting("Whether the server may be on another machine without TLS that verifies it; warned of at each start.")]
    public bool AllowInsecure { get; init; }

    [Setting("The schema of the tables; made when it does not exist.")]
    public string Schema { get; init; } = "esb";

    [Setting("The folder in which audit facts wait for the database; in the working directory where none is named.", IsPath = true)]
    public override string Folder { get; init; } = "esb-data";

    [Setting(
        "A folder that all hosts share, for large bodies instead of a table; bodies that are published as streams need it.",
        IsPath = true
    )]
    public string? Claims { get; init; }

    [Setting("Thresholds from which signals of the database's health raise a notice and an alert.")]
    public DatabaseHealthConfig Health { get; init; } = new();

    [Setting("Maximum size of the facts that wait there; intake slows down at 80 % of it and stops at 95 %.", Range = "1MiB..1024GiB")]
    public ByteSize SpoolSize { get; init; } = ByteSize.MiB(512);

    [Setting("Encrypts stored bodies (AES-256-GCM): the first key encrypts, all decrypt.")]
    public IReadOnlyList<EncryptionKeyConfig> EncryptionKeys { get; init; } = [];

    public override bool IsShared => true;

    public override bool KeepsStreams => Claims is not null && EncryptionKeys.Count == 0;
}

/// <summary>The setting <c>store.health</c>: from when notices and alerts tell of the database of the store, until it is half of
/// that.</summary>
internal sealed record DatabaseHealthConfig : SettingsRecord
{
    [Setting("The longest wait for a lock.", Range = "100ms..1h")]
    public TimeSpan LockWait { get; init; } = TimeSpan.FromSeconds(10);

    [Setting("The age of the oldest transaction.", Range = "1s..7d")]
    public TimeSpan Transaction { get; init; } = TimeSpan.FromMinutes(10);

    [Setting("Dead rows in the worst table of the store, in percent; tables of less than 50000 rows do not count.", Range = "1..100")]
    public int DeadRows { get; init; } = 50;

    [Setting("The size of the database; by default no mark. It is left again at nine tenths.", Range = "1MiB..1048576GiB")]
    public ByteSize? DatabaseSize { get; init; }
}
