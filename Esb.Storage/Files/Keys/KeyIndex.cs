using System.Text.Json;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files.Keys;

/// <summary>What is in memory of a request: 64 bytes. The rest stays on disk.</summary>
/// <param name="Body">The beginning of its body's hash.</param>
/// <param name="Ticks">When it was claimed or answered, in UTC.</param>
/// <param name="Segment">Where its last record is.</param>
/// <param name="Offset">Where in the segment.</param>
/// <param name="IsAnswered">Whether the record is an answer that counts.</param>
internal readonly record struct KeyEntry(UInt128 Body, long Ticks, long Segment, long Offset, bool IsAnswered);

/// <summary>Finds the requests in the segments of a folder, and deletes segments that are not needed any more. Not thread-safe.</summary>
/// <param name="folder">The folder.</param>
/// <param name="committed">How far the writer has come.</param>
/// <param name="process">This process: answers of another one that were not durable do not count.</param>
/// <param name="maxKeys">The most keys that are kept in memory.</param>
/// <param name="logger">Hears of damage.</param>
internal sealed partial class KeyIndex(string folder, Func<SegmentPosition> committed, Guid process, int maxKeys, ILogger logger)
{
    private readonly SegmentReader _reader = new(folder, committed, logger);
    private readonly Dictionary<UInt128, KeyEntry> _entries = [];
    private readonly SortedDictionary<long, long> _newest = []; // of each segment, in ticks

    public KeyEntry? Find(UInt128 id, DateTimeOffset notBefore) =>
        _entries.TryGetValue(id, out var entry) && entry.Ticks > notBefore.UtcTicks ? entry : null;

    /// <summary>Reads what was written since.</summary>
    public void Refresh()
    {
        foreach (var record in _reader.ReadNew())
        {
            try
            {
                Add(StoredKey.Read(record.Payload).Key, record.Position);
            }
            catch (Exception ex) when (ex is InvalidDataException or JsonException)
            {
                LogUnreadable(ex, record.Position);
            }
        }
    }

    /// <summary>The record of an entry; null where it is damaged.</summary>
    public (StoredKey Key, ReadOnlyMemory<byte>? Body)? Read(KeyEntry entry)
    {
        using var file = SegmentHandle.TryOpenForReading(new SegmentFile(folder, entry.Segment));
        return file is not null && SegmentScanner.ReadAt(file, entry.Offset) is { } payload ? StoredKey.Read(payload) : null;
    }

    /// <summary>Forgets what is older, and the oldest segments where there are too many keys.</summary>
    public void Forget(DateTimeOffset before)
    {
        foreach (var (id, entry) in _entries)
        {
            if (entry.Ticks <= before.UtcTicks) _entries.Remove(id); // a dictionary allows removal while it is read
        }

        foreach (var (segment, newest) in _newest.SkipLast(1).ToList())
        {
            if (newest > before.UtcTicks && _entries.Count <= maxKeys) break;
            if (newest > before.UtcTicks) LogForgottenEarly(new DateTimeOffset(newest, TimeSpan.Zero), maxKeys);
            Delete(segment);
        }
    }

    private void Delete(long segment)
    {
        foreach (var (id, entry) in _entries)
        {
            if (entry.Segment == segment) _entries.Remove(id);
        }

        _newest.Remove(segment);
        new SegmentFile(folder, segment).Delete();
    }

    private void Add(StoredKey stored, SegmentPosition position)
    {
        var id = StoredKey.IdOf(new(stored.Endpoint, stored.Client, stored.Key));
        var isAnswered = stored.Status is not null && (stored.Process is null || stored.Process == process);
        _entries[id] = new KeyEntry(StoredKey.Beginning(stored.BodyHash.Span), stored.Time.UtcTicks, position.Segment, position.Offset, isAnswered);
        _newest[position.Segment] = stored.Time.UtcTicks;
    }

    [LoggerMessage(EventId = 4540, Level = LogLevel.Error, Message = "the key of a request at {Position} cannot be read")]
    private partial void LogUnreadable(Exception exception, SegmentPosition position);

    [LoggerMessage(EventId = 4541, Level = LogLevel.Warning, Message = "keys of requests up to {Time} are forgotten early: there are more than {MaxKeys}, and a store in PostgreSQL keeps any number")]
    private partial void LogForgottenEarly(DateTimeOffset time, int maxKeys);
}
