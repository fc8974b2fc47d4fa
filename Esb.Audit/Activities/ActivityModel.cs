using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Workflows;

namespace Esb.Audit.Activities;

/// <summary>An activity, compiled: finds what audit facts say of it. Immutable.</summary>
internal sealed class ActivityModel
{
    // An entry of an index has room for no more.
    private const int MaxKeyLength = 256;

    private readonly ActivityConfig _config;

    public ActivityModel(ActivityConfig config)
    {
        _config = config;
        Milestones = [.. config.Milestones.Select(milestone => milestone.Milestone)];
        HasEnds = config.Milestones.Any(milestone => milestone.Ends);
    }

    public string Name => _config.Name;

    /// <summary>In the usual order.</summary>
    public IReadOnlyList<string> Milestones { get; }

    public TimeSpan? OverdueAfter => _config.OverdueAfter;

    private bool HasEnds { get; }

    /// <summary>Adds what a fact says of the activity; nothing where it says nothing.</summary>
    public void Project(AuditFact fact, List<ActivityProgress> progress)
    {
        var key = fact.Fields.TryGetValue(_config.Key, out var value) && value.Length > 0 ? Cut(value) : null;
        var data = DataOf(fact);
        var passed = 0;
        for (var index = 0; index < _config.Milestones.Count; index++)
        {
            var milestone = _config.Milestones[index];
            if (!IsPassed(milestone.When, fact))
                continue;
            progress.Add(
                Of(fact, key, data) with
                {
                    Milestone = milestone.Milestone,
                    Ends = HasEnds ? milestone.Ends : index == _config.Milestones.Count - 1,
                }
            );
            passed++;
        }

        if (passed == 0 && key is not null)
            progress.Add(Of(fact, key, data)); // says which item its conversation is about
    }

    private static bool IsPassed(MilestoneFactConfig when, AuditFact fact) =>
        (when.Kind is null || when.Kind == fact.Kind)
        && (when.Endpoint is null || when.Endpoint == fact.Endpoint)
        && (when.Process is null || when.Process == fact.Process)
        && (when.Workflow is null || (fact.Endpoint is { } subscriber && WorkflowQueues.WorkflowOf(subscriber) == when.Workflow))
        && (when.Record is null || when.Record == fact.Name)
        && (when.Subject is null || when.Subject == fact.Subject);

    private static string Cut(string key) =>
        key.Length <= MaxKeyLength ? key : key[..(char.IsHighSurrogate(key[MaxKeyLength - 1]) ? MaxKeyLength - 1 : MaxKeyLength)];

    private ActivityProgress Of(AuditFact fact, string? key, IReadOnlyDictionary<string, string>? data)
    {
        var progress = new ActivityProgress
        {
            Activity = Name,
            ConversationId = fact.ConversationId,
            At = fact.Time,
            Key = key,
        };
        return data is null ? progress : progress with { Data = data };
    }

    private Dictionary<string, string>? DataOf(AuditFact fact)
    {
        if (fact.Fields.Count == 0 || _config.Data.Count == 0)
            return null;
        Dictionary<string, string>? data = null;
        foreach (var name in _config.Data)
        {
            if (fact.Fields.TryGetValue(name, out var value))
                (data ??= [])[name] = value;
        }

        return data;
    }
}
