using System.Security.Cryptography;
using System.Text;
using Esb.Configuration;
using Esb.Core.Configuration;

namespace Esb.Host.Management;

/// <summary>The keys that open the management API: those of the running configuration, otherwise the key of the first start. Both are used
/// without a restart once they change. Thread-safe.</summary>
internal sealed class ManagementKeys
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(5);

    private readonly Func<ManagementConfig> _config;
    private readonly RenewedFile<ManagementKey>? _file;
    private readonly TimeProvider _time;
    private volatile Known _known;

    /// <param name="config">The settings of the running configuration.</param>
    /// <param name="keyFile">The file of the key of the first start; made if it is missing, unless keys are configured.</param>
    /// <param name="time">The clock.</param>
    /// <param name="logger">The logger.</param>
    /// <exception cref="ConfigurationRefusedException">The file cannot be read or written, or holds no key.</exception>
    public ManagementKeys(Func<ManagementConfig> config, string keyFile, TimeProvider time, ILogger logger)
    {
        (_config, _time) = (config, time);
        _known = Known.Of(config());
        if (_known.Entries.Count > 0)
            return;
        ManagementKey.ReadOrCreate(keyFile);
        _file = new RenewedFile<ManagementKey>(
            "the key of the management API",
            [keyFile],
            () => ManagementKey.Read(keyFile),
            LookInterval,
            time,
            logger
        );
    }

    /// <summary>Returns the owner of a key; null if it opens nothing. Takes the same time for every key.</summary>
    public ManagementUser? Find(string? presented) => presented is null ? null : Find(DigestOf(presented));

    /// <summary>Returns the owner of a key by its digest; null if it opens nothing any more.</summary>
    public ManagementUser? Find(byte[] digest)
    {
        var config = _config();
        if (!ReferenceEquals(config, _known.Config))
            _known = Known.Of(config);
        if (_known.Entries.Count == 0)
            return _file?.Current.MatchesDigest(digest) == true ? new ManagementUser(null, ManagementRole.Administrator) : null;

        Entry? found = null;
        foreach (var entry in _known.Entries)
        {
            if (CryptographicOperations.FixedTimeEquals(entry.Digest, digest))
                found = entry;
        }

        return found is null || _time.GetUtcNow() >= found.Expires ? null : found.User;
    }

    /// <summary>The names and roles of the keys, by name; never the keys themselves.</summary>
    public IReadOnlyList<ManagementKeyView> Describe()
    {
        var keys = _config().Keys;
        if (keys.Count == 0)
            return [new ManagementKeyView(null, ManagementRole.Administrator, 1, null, IsExpired: false)];
        var now = _time.GetUtcNow();
        return
        [
            .. keys.OrderBy(key => key.Key, StringComparer.Ordinal)
                .Select(key => new ManagementKeyView(
                    key.Key,
                    key.Value.Role,
                    key.Value.Key.Count,
                    ExpiryOf(key.Value) is { } expires && expires < DateTimeOffset.MaxValue ? expires : null,
                    now >= ExpiryOf(key.Value)
                )),
        ];
    }

    /// <summary>The SHA-256 of a key.</summary>
    public static byte[] DigestOf(string key) => SHA256.HashData(Encoding.UTF8.GetBytes(key));

    private static DateTimeOffset ExpiryOf(ManagementKeyConfig config) =>
        config.Expires is { } text && ManagementKeyConfig.TryReadTime(text, out var time) ? time : DateTimeOffset.MaxValue;

    private sealed record Entry(byte[] Digest, DateTimeOffset Expires, ManagementUser User);

    private sealed record Known(ManagementConfig Config, IReadOnlyList<Entry> Entries)
    {
        public static Known Of(ManagementConfig config) =>
            new(config, [.. config.Keys.SelectMany(entry => entry.Value.Key.Select(key => EntryOf(entry.Key, entry.Value, key)))]);

        private static Entry EntryOf(string name, ManagementKeyConfig config, string key) =>
            new(DigestOf(key), ExpiryOf(config), new ManagementUser(name, config.Role));
    }
}
