using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.DeadLetters;
using Esb.Storage.Segments;

namespace Esb.Storage.Files.DeadLetters;

/// <summary>All letters and jobs of a folder as they are now, without bodies: what its events come to. Not thread-safe.</summary>
internal sealed class LetterBook
{
    private readonly Dictionary<Guid, LetterEntry> _letters = [];
    private readonly Dictionary<Guid, JobEntry> _jobs = [];
    private readonly Dictionary<string, Guid> _commands = [];
    private readonly Dictionary<(Guid Message, string Endpoint), Guid> _sentElsewhere = [];
    private readonly Tombstones _tombstones = new();
    private readonly HashSet<string> _texts = []; // most letters say the same
    private List<(long Number, LetterEntry Entry)> _order = []; // grows at its end; a letter that came back leaves its old place behind

    public IReadOnlyDictionary<Guid, LetterEntry> Letters => _letters;

    public IReadOnlyDictionary<Guid, JobEntry> Jobs => _jobs;

    /// <summary>What was removed.</summary>
    public Tombstones Tombstones => _tombstones;

    /// <summary>The number of the next letter.</summary>
    public long NextNumber => _order.Count == 0 ? 1 : _order[^1].Number + 1;

    public ReplayJob? JobOf(string command) => _commands.TryGetValue(command, out var id) ? _jobs[id].Job : null;

    /// <summary>The letter that was sent as this message to this endpoint, another than its own.</summary>
    public DeadLetterSummary? SentAs(Guid message, string endpoint) =>
        _sentElsewhere.TryGetValue((message, endpoint), out var id) ? _letters[id].Summary : null;

    /// <summary>The newest first.</summary>
    public IEnumerable<LetterEntry> Newest(long? before)
    {
        for (var i = before is { } number ? FirstFrom(number) - 1 : _order.Count - 1; i >= 0; i--)
        {
            if (IsCurrent(_order[i])) yield return _order[i].Entry;
        }
    }

    /// <summary>The letters that a job has not sent yet, the oldest first.</summary>
    public IEnumerable<DeadLetterSummary> Pending(Guid job) => _jobs[job].Pending.Values.Select(entry => entry.Summary);

    public void Apply(LetterEvent happened, SegmentPosition position, long bodyBytes, long recordBytes)
    {
        if (happened.Letter is { } letter) Keep(letter, position, bodyBytes, recordBytes);
        if (happened.Change is { } change) Change(change, position.Segment);
        if (happened.Job is { } job) Keep(job, position, recordBytes);
        if (happened.Removed is { } removed) Remove(removed, position.Segment);
    }

    private void Keep(StoredDeadLetter letter, SegmentPosition position, long bodyBytes, long recordBytes)
    {
        if (letter.Number == 0) letter = letter with { Number = NextNumber };
        var summary = letter.Summarize(bodyBytes);
        if (!_letters.TryGetValue(summary.Id, out var entry)) _letters[summary.Id] = entry = new LetterEntry();
        else Leave(entry.Summary);

        var hasPlace = entry.Summary?.Number == summary.Number;
        entry.Cause = Pool(DeadLetterCause.Of(letter.Reason));
        entry.IsReasonWhole = letter.Reason.Length <= DeadLetterSummary.MaxReasonLength;
        entry.Written = new Placed(position, recordBytes);
        entry.Changes = null;
        Enter(entry, summary with { Endpoint = Pool(summary.Endpoint), Code = Pool(summary.Code), Subject = Pool(summary.Subject), Reason = Pool(summary.Reason) });
        if (!hasPlace) Place(summary.Number, entry);
        _tombstones.Drop(summary.Id);
    }

    private void Change(LetterChange change, long segment)
    {
        foreach (var id in change.Letters)
        {
            if (!_letters.TryGetValue(id, out var entry)) continue; // damaged
            Leave(entry.Summary);
            entry.Changes = change.Replays is null && entry.Changes is { } changes ? (changes.First, segment) : (segment, segment);
            Enter(entry, change.Apply(entry.Summary));
        }
    }

    private void Keep(ReplayJob job, SegmentPosition position, long recordBytes)
    {
        if (!_jobs.TryGetValue(job.Id, out var entry)) _jobs[job.Id] = entry = new JobEntry();
        entry.Job = job;
        entry.Written = new Placed(position, recordBytes);
        _commands[job.Command] = job.Id;
        _tombstones.Drop(job.Id);
    }

    private void Remove(IReadOnlyList<Guid> ids, long segment)
    {
        var letters = new HashSet<LetterEntry>();
        foreach (var id in ids)
        {
            if (_letters.Remove(id, out var letter))
            {
                Leave(letter.Summary);
                letters.Add(letter);
                _tombstones.Set(id, letter.Written.Position.Segment, segment);
            }
            else if (_jobs.GetValueOrDefault(id) is { Job: { } job } entry)
            {
                _jobs.Remove(id);
                _commands.Remove(job.Command);
                _tombstones.Set(id, entry.Written.Position.Segment, segment);
            }
            else
            {
                _tombstones.Move(id, segment);
            }
        }

        if (letters.Count > 0) _order.RemoveAll(place => letters.Contains(place.Entry));
    }

    private void Enter(LetterEntry entry, DeadLetterSummary summary)
    {
        entry.Summary = summary;
        if (summary is { State: DeadLetterState.Replaying, Job: { } job })
        {
            if (!_jobs.TryGetValue(job, out var owner)) _jobs[job] = owner = new JobEntry();
            owner.Pending[summary.Number] = entry;
        }

        if (IsElsewhere(summary)) _sentElsewhere[(summary.ReplayedAs!.Value, summary.ReplayedTo!)] = summary.Id;
    }

    private void Leave(DeadLetterSummary summary)
    {
        if (summary.Job is { } job && _jobs.TryGetValue(job, out var entry)) entry.Pending.Remove(summary.Number);
        if (IsElsewhere(summary)) _sentElsewhere.Remove((summary.ReplayedAs!.Value, summary.ReplayedTo!));
    }

    // Compaction writes letters again, with the numbers that they had.
    private void Place(long number, LetterEntry entry)
    {
        if (_order.Count == 0 || _order[^1].Number < number) _order.Add((number, entry));
        else _order.Insert(FirstFrom(number), (number, entry));
        if (_order.Count > 2 * _letters.Count + 1000) _order = [.. _order.Where(IsCurrent)];
    }

    private int FirstFrom(long number)
    {
        var (low, high) = (0, _order.Count);
        while (low < high)
        {
            var middle = low + (high - low) / 2;
            if (_order[middle].Number < number) low = middle + 1;
            else high = middle;
        }

        return low;
    }

    private string Pool(string text)
    {
        if (_texts.TryGetValue(text, out var known)) return known;
        _texts.Add(text);
        return text;
    }

    private static bool IsCurrent((long Number, LetterEntry Entry) place) => place.Entry.Summary.Number == place.Number;

    private static bool IsElsewhere(DeadLetterSummary letter) =>
        letter is { ReplayedAs: { } sent, ReplayedTo: { } endpoint } && (sent != letter.MessageId || endpoint != letter.Endpoint);
}
