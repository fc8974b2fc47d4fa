using Esb.IntegrationTests.Faults.Ledgers;

namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>Compares the ledger of what was sent with what is known about one endpoint's outside. Knows nothing of the bus.</summary>
internal static class Checker
{
    private const int Examples = 5;

    public static Verdict Check(IReadOnlyCollection<SentMessage> sent, SinkEvidence evidence)
    {
        var byId = sent.ToDictionary(message => message.Id);
        var acknowledged = sent.Where(message => message.Outcome == SendOutcome.Confirmed).ToList();
        var delivered = evidence.Entries.Select(entry => entry.Id).ToHashSet();
        var missing = acknowledged.Where(message => !delivered.Contains(message.Id)).ToList();
        var lost = missing.Where(message => !IsKept(message, evidence)).ToList();
        var unexpected = evidence.Entries.Where(entry => !IsExpected(entry, byId)).ToList();
        var copies = FindCopies(evidence.Entries);
        var reordered = FindReordered(evidence.Entries, byId);
        var gaps = evidence.TerminalStates is { } states ? acknowledged.Where(message => !IsAudited(message, states)).ToList() : null;

        var broken = new List<string>();
        Expect(lost.Select(message => message.Id), "lost");
        Expect(unexpected.Select(entry => entry.Id), "unexpected");
        if (evidence.Promises.HasFlag(SinkPromises.Once))
            Expect(copies.Select(entry => entry.Id), "effect-duplicated");
        if (evidence.Promises.HasFlag(SinkPromises.Ordered))
            Expect(reordered.Select(entry => entry.Id), "reordered");
        Expect(
            (gaps ?? []).Select(message =>
                $"{message.Id} [{string.Join(", ", evidence.TerminalStates![message.MessageId ?? Guid.Empty])}]"
            ),
            "without exactly one terminal audit state"
        );
        if (evidence.Waiting > 0)
            broken.Add($"{evidence.Waiting} stuck in queues");
        if (evidence.Promises.HasFlag(SinkPromises.Flagged) && evidence.FlaggedDuplicates != evidence.ForcedDuplicates)
            broken.Add($"{evidence.ForcedDuplicates} duplicates were forced, {evidence.FlaggedDuplicates} flagged");

        return new Verdict
        {
            Endpoint = evidence.Endpoint,
            IsOnce = evidence.Promises.HasFlag(SinkPromises.Once),
            IsOrdered = evidence.Promises.HasFlag(SinkPromises.Ordered),
            Attempted = sent.Count,
            Acknowledged = acknowledged.Count,
            Delivered = evidence.Entries.Count,
            Unique = delivered.Count,
            Kept = missing.Count - lost.Count,
            Lost = lost.Count,
            Recovered = sent.Count(message => message.Outcome == SendOutcome.Unknown && delivered.Contains(message.Id)),
            Unexpected = unexpected.Count,
            Duplicated = copies.Count,
            EffectDuplicated = evidence.Promises.HasFlag(SinkPromises.Once) ? copies.Count : 0,
            Flagged = evidence.FlaggedDuplicates,
            Reordered = reordered.Count,
            Stuck = evidence.Waiting,
            AuditGap = gaps?.Count,
            Broken = broken,
        };

        void Expect(IEnumerable<string> found, string what)
        {
            var all = found.ToList();
            if (all.Count > 0)
                broken.Add($"{all.Count} {what} ({string.Join(", ", all.Take(Examples))})");
        }
    }

    private static bool IsKept(SentMessage message, SinkEvidence evidence) =>
        message.MessageId is { } id ? evidence.Kept.Contains(id) : evidence.KeptByName.Contains(message.Id);

    // What was refused for certain must not arrive either: its sender may have sent it another way.
    private static bool IsExpected(SinkEntry entry, Dictionary<string, SentMessage> byId) =>
        byId.TryGetValue(entry.Id, out var message) && message.Outcome != SendOutcome.Refused && message.Hash == entry.Hash;

    private static List<SinkEntry> FindCopies(IEnumerable<SinkEntry> entries)
    {
        var seen = new HashSet<string>();
        return [.. entries.Where(entry => !seen.Add(entry.Id))];
    }

    // Order means the order of confirms, so only confirmed messages have a place in it; a copy of what was there before is a duplicate, not
    // out of order.
    private static List<SinkEntry> FindReordered(IEnumerable<SinkEntry> entries, Dictionary<string, SentMessage> byId)
    {
        var seen = new HashSet<string>();
        var last = new Dictionary<string, int>();
        var reordered = new List<SinkEntry>();
        foreach (var entry in entries)
        {
            if (!byId.TryGetValue(entry.Id, out var message) || message.Outcome != SendOutcome.Confirmed || !seen.Add(entry.Id))
                continue;
            if (last.TryGetValue(message.Key, out var before) && before > message.Sequence)
                reordered.Add(entry);
            else
                last[message.Key] = message.Sequence;
        }

        return reordered;
    }

    private static bool IsAudited(SentMessage message, ILookup<Guid, string> states) =>
        message.MessageId is { } id && states[id].Count() == 1;
}
