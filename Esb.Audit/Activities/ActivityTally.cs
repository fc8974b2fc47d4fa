using Esb.Core.Activities;

namespace Esb.Audit.Activities;

/// <summary>Counts the items of an activity in a time, one after the other, in memory that does not grow with them. Not
/// thread-safe.</summary>
internal sealed class ActivityTally
{
    private readonly ActivityModel _model;
    private readonly DateTimeOffset _from;
    private readonly DateTimeOffset _to;
    private readonly TimeSpan? _bucket;
    private readonly List<(string From, string To, ActivityDurations Durations)> _steps = [];
    private readonly ActivityDurations _whole = new("start", "end");
    private readonly long[] _startedIn;
    private readonly long[] _completedIn;
    private long _started;
    private long _completed;
    private long _late;

    public ActivityTally(ActivityModel model, DateTimeOffset from, DateTimeOffset to, TimeSpan? bucket)
    {
        (_model, _from, _to, _bucket) = (model, from, to, bucket);
        for (var index = 1; index < model.Milestones.Count; index++)
            _steps.Add(
                (
                    model.Milestones[index - 1],
                    model.Milestones[index],
                    new ActivityDurations(model.Milestones[index - 1], model.Milestones[index])
                )
            );
        var buckets = bucket is { } length ? (int)Math.Ceiling((to - from) / length) : 0;
        (_startedIn, _completedIn) = (new long[buckets], new long[buckets]);
    }

    public void Add(ActivityItem item)
    {
        if (item.CompletedAt is { } completed && IsIn(completed))
        {
            _completed++;
            if (_model.OverdueAfter is { } limit && completed - item.StartedAt > limit)
                _late++;
            if (_bucket is { } length)
                _completedIn[(int)((completed - _from) / length)]++;
        }

        if (!IsIn(item.StartedAt))
            return;
        _started++;
        if (_bucket is { } part)
            _startedIn[(int)((item.StartedAt - _from) / part)]++;
        if (item.CompletedAt is { } end)
            _whole.Add(end - item.StartedAt);
        foreach (var (from, to, durations) in _steps)
        {
            if (item.Milestones.TryGetValue(from, out var one) && item.Milestones.TryGetValue(to, out var other))
                durations.Add(other - one);
        }
    }

    /// <param name="open">Items that have not ended.</param>
    /// <param name="overdue">Those of them that should have; null where the activity sets no time.</param>
    public ActivityReport ToReport(long open, long? overdue) =>
        new()
        {
            Name = _model.Name,
            From = _from,
            To = _to,
            Started = _started,
            Completed = _completed,
            CompletedLate = _model.OverdueAfter is null ? null : _late,
            InProgress = open,
            Overdue = overdue,
            Durations = [.. _steps.Select(step => step.Durations.ToReport()), _whole.ToReport()],
            Buckets = _bucket is { } length
                ? [.. _startedIn.Select((started, index) => new ActivityBucket(_from + (index * length), started, _completedIn[index]))]
                : null,
        };

    private bool IsIn(DateTimeOffset time) => time >= _from && time < _to;
}
