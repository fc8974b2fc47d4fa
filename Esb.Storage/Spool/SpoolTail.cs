using Esb.Core.Audit;
using Esb.Storage.Segments;

namespace Esb.Storage.Spool;

/// <summary>The newest durable facts of a spool, in the order of its log: whoever moves them and keeps up takes them from here, and reads and parses nothing. Thread-safe.</summary>
/// <param name="maxBytes">Beyond that the oldest go; they are in the segments.</param>
internal sealed class SpoolTail(long maxBytes)
{
    private readonly Lock _gate = new();
    private readonly Queue<Placed> _facts = new();
    private SegmentPosition _begin = SegmentPosition.Start;
    private long _bytes;

    /// <summary>Where it begins: what lies before is in the segments only.</summary>
    public SegmentPosition Begin
    {
        get
        {
            lock (_gate) return _begin;
        }
    }

    /// <summary>Begins where the log stands, before anything is appended.</summary>
    public void BeginAt(SegmentPosition committed)
    {
        lock (_gate) _begin = committed;
    }

    /// <param name="group">What has become durable; each entry comes from a fact.</param>
    /// <param name="end">Behind the last of them.</param>
    public void Add(IReadOnlyList<SegmentEntry> group, SegmentPosition end)
    {
        lock (_gate)
        {
            var offset = end.Offset;
            for (var i = 0; i < group.Count; i++) offset -= group[i].Size;
            for (var i = 0; i < group.Count; i++)
            {
                offset += group[i].Size;
                var fact = (AuditFact)group[i].Source!;
                var placed = new Placed(fact, end.Segment, offset, group[i].Size + (fact.Body?.Length ?? 0));
                _facts.Enqueue(placed);
                _bytes += placed.Size;
            }

            while (_bytes > maxBytes) RemoveOldest();
        }
    }

    /// <summary>Takes a look at the facts behind a position.</summary>
    /// <param name="from">The position.</param>
    /// <param name="room">How many facts there may be, and how much of them.</param>
    /// <param name="facts">Where they go.</param>
    /// <returns>Behind the last of them; null where older ones come first, which are in the segments only.</returns>
    public SegmentPosition? TryPeek(SegmentPosition from, PeekRoom room, List<AuditFact> facts)
    {
        lock (_gate)
        {
            if (from.IsBefore(_begin)) return null;
            Placed? last = null;
            foreach (var placed in _facts)
            {
                if (room.IsFull) break;
                room.Take(placed.Fact);
                facts.Add(placed.Fact);
                last = placed;
            }

            return last?.End ?? from;
        }
    }

    /// <summary>Lets go of what lies before a position.</summary>
    public void ForgetBefore(SegmentPosition position)
    {
        lock (_gate)
        {
            while (_facts.TryPeek(out var oldest) && !oldest.IsBehind(position)) RemoveOldest();
        }
    }

    private void RemoveOldest()
    {
        var oldest = _facts.Dequeue();
        _bytes -= oldest.Size;
        _begin = oldest.End;
    }

    // Size: of the record, and of the body, which lies in memory as it was before it was packed.
    private readonly record struct Placed(AuditFact Fact, long Segment, long EndOffset, long Size)
    {
        public SegmentPosition End => new(Segment, EndOffset);

        public bool IsBehind(SegmentPosition position) => Segment > position.Segment || (Segment == position.Segment && EndOffset > position.Offset);
    }
}
