using Esb.Core.Audit;
using Esb.Core.Configuration.Settings;

namespace Esb.Audit.Activities;

/// <summary>One of the section <c>activities</c>: what the business follows on its way, such as an order.</summary>
internal sealed record ActivityConfig : SettingsRecord
{
    [Setting("The field of audit facts that tells one item from another, such as the number of an order.")]
    public required string Key { get; init; }

    [Setting("The milestones of an item, in the usual order.")]
    public required IReadOnlyList<MilestoneConfig> Milestones { get; init; }

    [Setting("Fields of audit facts that are kept with an item.")]
    public IReadOnlyList<string> Data { get; init; } = [];

    [Setting("How long after it began an item that has not ended is overdue; never by default.", Range = "1s..3650d")]
    public TimeSpan? OverdueAfter { get; init; }
}

/// <summary>A milestone of an activity.</summary>
internal sealed record MilestoneConfig : SettingsRecord
{
    [Setting("The name of the milestone.", Name = "name")]
    public required string Milestone { get; init; }

    [Setting("The audit facts that show it was reached.")]
    public required MilestoneFactConfig When { get; init; }

    [Setting("Whether the item ends with it. Where no milestone says so, it ends with the last one.")]
    public bool Ends { get; init; }
}

/// <summary>Which audit facts; everything that is given must hold.</summary>
internal sealed record MilestoneFactConfig : SettingsRecord
{
    [Setting("What happened.")]
    public AuditKind? Kind { get; init; }

    [Setting("At which endpoint.", Reference = "endpoints")]
    public string? Endpoint { get; init; }

    [Setting("In which process.", Reference = "processes")]
    public string? Process { get; init; }

    [Setting("In which workflow.", Reference = "workflows")]
    public string? Workflow { get; init; }

    [Setting("The name that an audit step gave.", Name = "name")]
    public string? Record { get; init; }

    [Setting("Under which subject it was published.")]
    public string? Subject { get; init; }
}
