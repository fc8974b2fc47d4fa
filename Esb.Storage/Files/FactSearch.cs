using Esb.Core.Audit;
using Esb.Storage.Files.Index;
using Esb.Storage.Segments;
using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Files;

/// <summary>One search through the segments. Reads only the facts that it returns, and few others.</summary>
internal sealed class FactSearch(IReadOnlyList<ISegmentIndex> segments) : IDisposable
{
    private readonly Dictionary<SegmentFile, SafeFileHandle?> _files = [];

    /// <summary>The facts that a query asks for, newest first.</summary>
    public IEnumerable<AuditFact> Find(AuditQuery query)
    {
        var limit = Math.Clamp(query.Limit, 1, 1000);
        var last = Guid.Empty;
        foreach (var (segment, row) in Candidates(query))
        {
            if (row.Id == last || Read(segment, row) is not { } fact || !Fits(fact, query))
                continue; // the same fact twice is one
            last = row.Id;
            yield return fact;
            if (--limit == 0)
                yield break;
        }
    }

    /// <summary>The facts of a message and of the others of its conversation, oldest first, with bodies as far as there is room. What is
    /// not returned is not kept.</summary>
    public IReadOnlyList<AuditFact> FindJourney(AuditJourneyQuery query)
    {
        var room = query.MaxBodyBytes;
        return
        [
            .. Journey(query.MessageId)
                .Take(query.Limit)
                .Select(fact => (room -= fact.Body?.Length ?? 0) < 0 || query.MaxBodyBytes == 0 ? fact with { Body = null } : fact),
        ];
    }

    private IEnumerable<AuditFact> Journey(Guid messageId)
    {
        var own = FindAll(FactKeys.Message(messageId)).Where(fact => fact.MessageId == messageId);
        var conversations = own.Select(fact => fact.ConversationId).ToHashSet();
        var facts = conversations
            .SelectMany(conversation => FindAll(FactKeys.Conversation(conversation)))
            .Where(fact => conversations.Contains(fact.ConversationId))
            .DistinctBy(fact => fact.Id);
        return conversations.Count > 1 ? facts.OrderBy(fact => fact.Id) : facts;
    }

    public void Dispose()
    {
        foreach (var file in _files.Values)
            file?.Dispose();
    }

    // Oldest first; each is read when its turn comes.
    private IEnumerable<AuditFact> FindAll(ulong key) =>
        segments
            .SelectMany(segment => segment.Find(key).Select(row => (segment.Segment, Row: row)))
            .OrderBy(found => found.Row.Id)
            .Select(found => Read(found.Segment, found.Row))
            .OfType<AuditFact>();

    // Segments follow one another in time, but facts of the same moment may lie in two: a segment is looked into once its newest fact is
    // next.
    private IEnumerable<(SegmentFile Segment, FactRow Row)> Candidates(AuditQuery query)
    {
        var waiting = new Stack<ISegmentIndex>(segments.OrderBy(segment => segment.NewestId));
        var rows = new PriorityQueue<(SegmentFile, FactRow), Guid>(Comparer<Guid>.Create((one, other) => other.CompareTo(one)));
        while (waiting.Count > 0 || rows.Count > 0)
        {
            while (waiting.TryPeek(out var next) && (rows.Count == 0 || next.NewestId.CompareTo(rows.Peek().Item2.Id) >= 0))
                rows.EnqueueRange(Rows(waiting.Pop(), query).Select(row => ((next.Segment, row), row.Id)));
            if (rows.TryDequeue(out var candidate, out _))
                yield return candidate;
        }
    }

    private static IEnumerable<FactRow> Rows(ISegmentIndex segment, AuditQuery query)
    {
        var keys = query.Where.Select(field => FactKeys.Field(field.Key, field.Value)).ToList();
        if (query.MessageId is { } message)
            keys.Add(FactKeys.Message(message));
        if (query.Endpoint is not null)
            keys.Add(FactKeys.Endpoint(query.Endpoint));
        if (query.Process is not null)
            keys.Add(FactKeys.Process(query.Process));
        if (query.Party is not null)
            keys.Add(FactKeys.Party(query.Party));
        if (query.TraceId is not null)
            keys.Add(FactKeys.Trace(query.TraceId));
        var rows = keys.Count == 0 ? segment.All() : keys.Select(segment.Find).MinBy(found => found.Count)!;
        return rows.Where(row => Fits(row, query));
    }

    private static bool Fits(FactRow row, AuditQuery query) =>
        (query.Kind is null ? !query.OnlyFailures || AuditQuery.Failures.Contains(row.Kind) : row.Kind == query.Kind)
        && (query.From is null || row.Ticks >= query.From.Value.UtcTicks)
        && (query.To is null || row.Ticks < query.To.Value.UtcTicks)
        && (query.Before is null || row.Id.CompareTo(query.Before.Value) < 0);

    private static bool Fits(AuditFact fact, AuditQuery query) =>
        (query.MessageId is null || fact.MessageId == query.MessageId)
        && (query.Endpoint is null || fact.Endpoint == query.Endpoint)
        && (query.Process is null || fact.Process == query.Process)
        && (query.Party is null || fact.Party == query.Party)
        && (query.TraceId is null || fact.TraceId == query.TraceId)
        && query.Where.All(field => fact.Fields.GetValueOrDefault(field.Key) == field.Value);

    // Null where the segment was removed meanwhile, or is damaged there.
    private AuditFact? Read(SegmentFile segment, FactRow row)
    {
        if (!_files.TryGetValue(segment, out var file))
            _files[segment] = file = SegmentHandle.TryOpenForReading(segment);
        return file is not null && SegmentScanner.ReadAt(file, row.Offset) is { } payload ? StoredFact.Read(payload, row.Part) : null;
    }
}
