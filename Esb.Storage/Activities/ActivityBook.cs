using Esb.Core.Activities;

namespace Esb.Storage.Activities;

/// <summary>Items of activities and the conversations that they are in, all or those that a change concerns; takes in what facts say. Not
/// thread-safe.</summary>
internal sealed class ActivityBook
{
    /// <summary>How many items of a conversation what is said in it without a key belongs to: it would cost as much as all of them
    /// together.</summary>
    public const int MostItems = 1_000;

    private readonly Dictionary<(string Activity, string Id), ActivityRow> _rows = [];
    private readonly Dictionary<(string Activity, Guid Conversation), Dictionary<string, Said>> _links = [];

    /// <summary>Every row.</summary>
    public IEnumerable<ActivityRow> Rows => _rows.Values;

    /// <summary>Which items conversations have that was not known of them.</summary>
    public IEnumerable<ActivityLink> NewLinks =>
        _links.SelectMany(links =>
            links
                .Value.Where(link => link.Value.IsNew)
                .Select(link => new ActivityLink(links.Key.Activity, links.Key.Conversation, link.Key, link.Value.At))
        );

    public void Add(ActivityRow row) => _rows[(row.Activity, row.Id)] = row;

    public void Add(ActivityLink link) => LinksOf(link.Activity, link.ConversationId).TryAdd(link.Key, new Said(link.At, IsNew: false));

    public void Apply(ActivityProgress progress)
    {
        if (progress.Key is { } key)
            ApplyToItem(progress, key);
        else
            ApplyToConversation(progress);
    }

    private void ApplyToItem(ActivityProgress progress, string key)
    {
        var item = Row(ActivityRow.Of(progress.Activity, key, progress.ConversationId));
        item.Merge(progress);
        if (!LinksOf(progress.Activity, progress.ConversationId).TryAdd(key, new Said(progress.At, IsNew: true)))
            return;

        // The first word that the conversation is about this item: what was said in it without a key belongs to it.
        if (!_rows.TryGetValue((progress.Activity, ActivityRow.IdOf(progress.ConversationId)), out var conversation))
            return;
        conversation.Link(true);
        item.Merge(conversation);
    }

    private void ApplyToConversation(ActivityProgress progress)
    {
        var conversation = Row(ActivityRow.Of(progress.Activity, progress.ConversationId));
        conversation.Merge(progress);
        var links = LinksOf(progress.Activity, progress.ConversationId);
        conversation.Link(links.Count > 0);
        foreach (var key in links.Keys.Take(MostItems))
            Row(ActivityRow.Of(progress.Activity, key, progress.ConversationId)).Merge(progress);
    }

    private ActivityRow Row(ActivityRow made)
    {
        if (_rows.TryGetValue((made.Activity, made.Id), out var known))
            return known;
        Add(made);
        return made;
    }

    private Dictionary<string, Said> LinksOf(string activity, Guid conversation)
    {
        if (!_links.TryGetValue((activity, conversation), out var links))
            _links[(activity, conversation)] = links = [];
        return links;
    }

    // When a conversation was first said to be about an item, and whether only since the book was read.
    private readonly record struct Said(DateTimeOffset At, bool IsNew);
}

/// <summary>A conversation that is about an item.</summary>
internal sealed record ActivityLink(string Activity, Guid ConversationId, string Key, DateTimeOffset At);
