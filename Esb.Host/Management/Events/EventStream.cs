using System.Text.Json;

namespace Esb.Host.Management.Events;

/// <summary>The events of this host: the newest are kept, so that a reader who was away continues where it was. Thread-safe.</summary>
/// <remarks>Memory is bounded: by a number and by bytes of kept events, by the readers, and by what a reader may be behind. Of the rates
/// only the latest are kept, because they replace those before.</remarks>
internal sealed class EventStream
{
    /// <summary>The most events that are kept.</summary>
    public const int MaxKept = 10_000;

    /// <summary>The most bytes that kept events take.</summary>
    public const long MaxKeptBytes = 16 * 1024 * 1024;

    /// <summary>The most readers at once.</summary>
    public const int MaxReaders = 64;

    private readonly Lock _gate = new();
    private readonly Queue<BusEvent> _kept = new();
    private readonly List<EventReader> _readers = [];
    private BusEvent? _rates;
    private long _keptBytes;
    private long _number;
    private long _forgotten;

    /// <summary>Distinguishes this process from others and from its earlier starts.</summary>
    public string Run { get; } = Convert.ToHexStringLower(Guid.NewGuid().ToByteArray().AsSpan(0, 6));

    /// <summary>True if a reader wants events of this kind.</summary>
    public bool IsWanted(BusEventKind kind)
    {
        lock (_gate)
            return _readers.Exists(reader => reader.Wants(kind));
    }

    public bool HasReaders
    {
        get
        {
            lock (_gate)
                return _readers.Count > 0;
        }
    }

    public void Publish(BusEventKind kind, object data)
    {
        var json = JsonSerializer.Serialize(data, data.GetType(), ManagementServer.Json);
        lock (_gate)
        {
            var added = new BusEvent(++_number, kind, json);
            if (kind == BusEventKind.Rates)
                _rates = added;
            else
                Keep(added);
            foreach (var reader in _readers)
                reader.Offer(added);
        }
    }

    /// <summary>Begins to read: what was missed since <paramref name="lastId"/> is offered at once.</summary>
    /// <param name="kinds">The kinds wanted.</param>
    /// <param name="lastId">The id of the last event that the reader has seen, as <c>RUN-NUMBER</c>; null for a new reader.</param>
    /// <returns>The reader; null if there are too many.</returns>
    public EventReader? Open(IReadOnlySet<BusEventKind> kinds, string? lastId)
    {
        lock (_gate)
        {
            if (_readers.Count >= MaxReaders)
                return null;
            var since = lastId is null ? _number : NumberOf(lastId);
            var reader = new EventReader(kinds, Run, _number, isReset: since is null, isResumed: lastId is not null && since is not null);
            if (since is { } seen)
                Catch(reader, seen);
            _readers.Add(reader);
            return reader;
        }
    }

    public void Close(EventReader reader)
    {
        lock (_gate)
            _readers.Remove(reader);
    }

    private void Catch(EventReader reader, long seen)
    {
        foreach (var kept in _kept)
        {
            if (kept.Number > seen)
                reader.Missed(kept);
        }

        if (_rates is { } rates && rates.Number > seen)
            reader.Missed(rates);
    }

    // Null where events in between are unknown here: of another run, or forgotten.
    private long? NumberOf(string id) =>
        id.LastIndexOf('-') is > 0 and var dash
        && id[..dash] == Run
        && long.TryParse(id.AsSpan(dash + 1), System.Globalization.NumberStyles.None, null, out var number)
        && number >= _forgotten
        && number <= _number
            ? number
            : null;

    private void Keep(BusEvent added)
    {
        _kept.Enqueue(added);
        _keptBytes += added.Size;
        while (_kept.Count > MaxKept || (_keptBytes > MaxKeptBytes && _kept.Count > 1))
        {
            var old = _kept.Dequeue();
            (_keptBytes, _forgotten) = (_keptBytes - old.Size, old.Number);
        }
    }
}
