using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.Segments;

namespace Esb.Storage.TakeOver;

/// <summary>What the events of dead letters come to: the letters without their bodies, and the jobs. Not thread-safe.</summary>
internal sealed class LetterFold
{
    private readonly Dictionary<Guid, (DeadLetterSummary Summary, SegmentPosition Position)> _letters = [];
    private readonly Dictionary<Guid, ReplayJob> _jobs = [];
    private long _lastNumber;

    /// <summary>The letters in the order of their numbers, and where each was written last.</summary>
    public IEnumerable<(DeadLetterSummary Summary, SegmentPosition Position)> Letters =>
        _letters.Values.OrderBy(letter => letter.Summary.Number);

    public IReadOnlyCollection<ReplayJob> Jobs => _jobs.Values;

    public void Apply(LetterEvent happened, SegmentPosition position)
    {
        if (happened.Letter is { } letter)
            Keep(letter, position);
        if (happened.Change is { } change)
            Change(change);
        if (happened.Job is { } job)
            _jobs[job.Id] = job;
        foreach (var id in happened.Removed ?? [])
        {
            _letters.Remove(id);
            _jobs.Remove(id);
        }
    }

    private void Keep(EarlierLetter letter, SegmentPosition position)
    {
        if (letter.Number == 0)
            letter = letter with { Number = _lastNumber + 1 };
        _lastNumber = Math.Max(_lastNumber, letter.Number);
        var summary = letter.Summarize(bodyBytes: 0);
        _letters[summary.Id] = (summary, position);
    }

    private void Change(LetterChange change)
    {
        foreach (var id in change.Letters)
        {
            if (_letters.TryGetValue(id, out var known))
                _letters[id] = known with { Summary = change.Apply(known.Summary) };
        }
    }
}
