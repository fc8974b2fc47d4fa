using System.Runtime.InteropServices;
using System.Text.Json;
using Esb.Core.Audit;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Files.Index;

/// <summary>The index of a segment that still grows, in memory: the postings of a key are a chain, the latest first.</summary>
/// <remarks>Chains are made when something is looked for: a segment that has stopped growing is indexed without any.</remarks>
internal sealed partial class GrowingSegmentIndex(SegmentFile segment, SegmentReader reader, ILogger logger) : ISegmentIndex
{
    private const int EndOfChain = -1;

    private readonly Lock _gate = new();
    private readonly List<FactRow> _rows = [];
    private readonly List<FactPosting> _postings = [];
    private readonly List<int> _previous = []; // of the postings that are in chains: the one before with the same key
    private readonly Dictionary<ulong, int> _latest = [];
    private readonly List<ulong> _keys = []; // of one fact
    private Guid _newestId;
    private long _newestTicks;

    public SegmentFile Segment => segment;

    public Guid NewestId
    {
        get
        {
            lock (_gate)
                return _newestId;
        }
    }

    public DateTimeOffset NewestTime
    {
        get
        {
            lock (_gate)
                return new DateTimeOffset(_newestTicks, TimeSpan.Zero);
        }
    }

    /// <summary>Reads what the segment has gained since the last time. One caller at a time.</summary>
    public void ReadNew(bool isLast, SegmentPosition? limit)
    {
        foreach (var record in reader.ReadSegment(segment, isLast, limit))
        {
            try
            {
                Add(StoredFact.Read(record.Payload), record.Position.Offset);
            }
            catch (Exception ex) when (ex is InvalidDataException or JsonException)
            {
                LogUnreadable(ex, segment, record.Position.Offset);
            }
        }
    }

    public IReadOnlyList<FactRow> All()
    {
        lock (_gate)
            return [.. _rows];
    }

    public IReadOnlyList<FactRow> Find(ulong key)
    {
        lock (_gate)
        {
            Chain();
            var found = new List<FactRow>();
            for (var at = _latest.GetValueOrDefault(key, EndOfChain); at != EndOfChain; at = _previous[at])
                found.Add(_rows[_postings[at].Row]);
            return found;
        }
    }

    /// <summary>Writes the index beside its segment, which has stopped growing.</summary>
    public SealedSegmentIndex Seal()
    {
        lock (_gate)
        {
            FactPosting[] postings = [.. _postings];
            Array.Sort(postings);
            return SealedSegmentIndex.Write(segment, _newestId, _newestTicks, [.. _rows], postings);
        }
    }

    private void Add(IReadOnlyList<AuditFact> facts, long offset)
    {
        lock (_gate)
        {
            for (var part = 0; part < facts.Count; part++)
                Add(facts[part], offset, part);
        }
    }

    private void Add(AuditFact fact, long offset, int part)
    {
        var row = new FactRow(fact.Id, fact.Time.UtcTicks, offset, part, fact.Kind);
        if (row.Id.CompareTo(_newestId) > 0)
            _newestId = row.Id;
        _newestTicks = Math.Max(_newestTicks, row.Ticks);
        _keys.Clear();
        FactKeys.Add(fact, _keys);
        foreach (var key in _keys)
            _postings.Add(new FactPosting(key, _rows.Count));
        _rows.Add(row);
    }

    private void Chain()
    {
        for (var at = _previous.Count; at < _postings.Count; at++)
        {
            ref var latest = ref CollectionsMarshal.GetValueRefOrAddDefault(_latest, _postings[at].Key, out var isKnown);
            _previous.Add(isKnown ? latest : EndOfChain);
            latest = at;
        }
    }

    [LoggerMessage(EventId = 4510, Level = LogLevel.Error, Message = "the record at {Offset} of {Segment} cannot be read")]
    private partial void LogUnreadable(Exception exception, SegmentFile segment, long offset);
}
