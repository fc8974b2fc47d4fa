using Esb.Core.Audit;
using Esb.Storage.Segments;

namespace Esb.Storage.Spool;

/// <summary>The newest durable facts of a spool, in log order: a mover that keeps up takes them from here, without reading or parsing
/// segments. Thread-safe.</summary>
/// <param name="maxBytes">The maximum size; beyond it the oldest facts are removed here, and remain in the segments.</param>
internal sealed class SpoolTail(long maxBytes)
{
    private readonly Lock _gate = new();
    private readonly Queue<Placed> _facts = new();
    private SegmentPosition _begin = SegmentPosition.Start;
    private long _bytes;

    /// <summary>The position at which it begins: earlier facts are in the segments only.</summary>
    public SegmentPosition Begin
    {
        get
        {
            lock (_gate)
                return _begin;
        }
    }

    /// <summary>Begins at the position of the log, before anything is appended.</summary>
    public void BeginAt(SegmentPosition committed)
    {
        lock (_gate)
            _begin = committed;
    }

    /// <param name="group">The entries that became durable; each comes from facts.</param>
    /// <param name="end">The position behind the last entry.</param>
    public void Add(IReadOnlyList<BatchedRecord> group, SegmentPosition end)
    {
        lock (_gate)
        {
            var offset = end.Offset;
            for (var i = 0; i < group.Count; i++)
                offset -= group[i].Size;
            for (var i = 0; i < group.Count; i++)
            {
                offset += group[i].Size;
                var facts = (IReadOnlyList<AuditFact>)group[i].Source!;
                var placed = new Placed(facts, end.Segment, offset, group[i].Size + facts.Sum(fact => (long)(fact.Body?.Length ?? 0)));
                _facts.Enqueue(placed);
                _bytes += placed.Size;
            }

            while (_bytes > maxBytes)
                RemoveOldest();
        }
    }

    /// <summary>Peeks at the facts behind a position.</summary>
    /// <param name="from">The position.</param>
    /// <param name="room">Limits the number and the size of the facts.</param>
    /// <param name="facts">Receives the facts.</param>
    /// <returns>The position behind the last fact; null if older facts come first, which are in the segments only.</returns>
    public SegmentPosition? TryPeek(SegmentPosition from, PeekRoom room, List<AuditFact> facts)
    {
        lock (_gate)
        {
            if (from.IsBefore(_begin))
                return null;
            Placed? last = null;
            foreach (var placed in _facts)
            {
                if (room.IsFull)
                    break;
                foreach (var fact in placed.Facts)
                    room.Take(fact);
                facts.AddRange(placed.Facts); // those of one record stay together: the position is behind them all
                last = placed;
            }

            return last?.End ?? from;
        }
    }

    /// <summary>Removes the facts before a position.</summary>
    public void ForgetBefore(SegmentPosition position)
    {
        lock (_gate)
        {
            while (_facts.TryPeek(out var oldest) && !oldest.IsBehind(position))
                RemoveOldest();
        }
    }

    private void RemoveOldest()
    {
        var oldest = _facts.Dequeue();
        _bytes -= oldest.Size;
        _begin = oldest.End;
    }

    // Size: of the record, and of the bodies, which lie in memory as they were before they were packed.
    private readonly record struct Placed(IReadOnlyList<AuditFact> Facts, long Segment, long EndOffset, long Size)
    {
        public SegmentPosition End => new(Segment, EndOffset);

        public bool IsBehind(SegmentPosition position) =>
            Segment > position.Segment || (Segment == position.Segment && EndOffset > position.Offset);
    }
}
