using Esb.Core.Activities;

namespace Esb.Storage.Activities;

/// <summary>The state of an item, or of a conversation whose facts name no key. Merging is idempotent and independent of order. Not
/// thread-safe.</summary>
internal sealed class ActivityRow(string activity, string id, string? key, Guid conversationId)
{
    private const char OfKey = 'k';
    private const char OfConversation = 'c';

    private bool _isLinked;

    public string Activity => activity;

    public string Id => id;

    public string? Key => key;

    public Guid ConversationId { get; private set; } = conversationId;

    public DateTimeOffset? StartedAt { get; set; }

    public DateTimeOffset? CompletedAt { get; set; }

    public DateTimeOffset FirstAt { get; set; } = DateTimeOffset.MaxValue;

    public DateTimeOffset LastAt { get; set; } = DateTimeOffset.MinValue;

    public Dictionary<string, DateTimeOffset> Milestones { get; init; } = [];

    public Dictionary<string, ActivityDatum> Data { get; init; } = [];

    /// <summary>True for a conversation that has items with keys: then the items count, not the conversation.</summary>
    public bool IsLinked
    {
        get => _isLinked;
        init => _isLinked = value;
    }

    /// <summary>True if it has taken in something new since it was made or read.</summary>
    public bool IsChanged { get; private set; }

    public static string IdOf(string key) => $"{OfKey}:{key}";

    public static string IdOf(Guid conversation) => $"{OfConversation}:{conversation:N}";

    public static ActivityRow Of(string activity, string key, Guid conversation) => new(activity, IdOf(key), key, conversation);

    public static ActivityRow Of(string activity, Guid conversation) => new(activity, IdOf(conversation), null, conversation);

    public void Merge(ActivityProgress progress)
    {
        Meet(progress.ConversationId, progress.At, progress.At);
        if (progress.Milestone is { } milestone)
            Pass(milestone, progress.At);
        if (progress.Ends)
            Complete(progress.At);
        foreach (var (name, text) in progress.Data)
            Set(name, new ActivityDatum(text, progress.At));
    }

    public void Merge(ActivityRow other)
    {
        Meet(other.ConversationId, other.FirstAt, other.LastAt);
        foreach (var (milestone, at) in other.Milestones)
            Pass(milestone, at);
        if (other.CompletedAt is { } completed)
            Complete(completed);
        foreach (var (name, datum) in other.Data)
            Set(name, datum);
    }

    /// <summary>Sets whether it has items with keys.</summary>
    public void Link(bool isLinked)
    {
        IsChanged |= _isLinked != isLinked;
        _isLinked = isLinked;
    }

    public ActivityItem ToItem() =>
        new()
        {
            Activity = activity,
            Id = id,
            Key = key,
            ConversationId = ConversationId,
            StartedAt = StartedAt!.Value,
            CompletedAt = CompletedAt,
            Milestones = new Dictionary<string, DateTimeOffset>(Milestones),
            Data = Data.ToDictionary(datum => datum.Key, datum => datum.Value.Text),
        };

    // Keeps the conversation that was seen first; at equal times the smaller id, so that the order of merging does not matter.
    private void Meet(Guid conversation, DateTimeOffset first, DateTimeOffset last)
    {
        var seenFirst = first < FirstAt || (first == FirstAt && conversation.CompareTo(ConversationId) < 0);
        IsChanged |= seenFirst || last > LastAt;
        if (seenFirst)
            ConversationId = conversation;
        if (first < FirstAt)
            FirstAt = first;
        if (last > LastAt)
            LastAt = last;
    }

    private void Pass(string milestone, DateTimeOffset at)
    {
        StartedAt = Earlier(StartedAt, at);
        if (Milestones.TryGetValue(milestone, out var before) && at >= before)
            return;
        Milestones[milestone] = at;
        IsChanged = true;
    }

    private void Complete(DateTimeOffset at)
    {
        if (at >= CompletedAt)
            return;
        CompletedAt = at;
        IsChanged = true;
    }

    private void Set(string name, ActivityDatum datum)
    {
        if (Data.TryGetValue(name, out var before) && !before.IsBefore(datum))
            return;
        Data[name] = datum;
        IsChanged = true;
    }

    private static DateTimeOffset Earlier(DateTimeOffset? one, DateTimeOffset other) => one < other ? one.Value : other;
}

/// <summary>A data item, and the time of the fact that holds it.</summary>
internal readonly record struct ActivityDatum(string Text, DateTimeOffset At)
{
    /// <summary>True if the other is later; at equal times, if its text is greater.</summary>
    public bool IsBefore(ActivityDatum other) => At < other.At || (At == other.At && string.CompareOrdinal(Text, other.Text) < 0);
}
