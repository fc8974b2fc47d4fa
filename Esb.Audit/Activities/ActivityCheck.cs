using Esb.Core;
using Esb.Core.Configuration;

namespace Esb.Audit.Activities;

/// <summary>Refuses activities without a milestone, milestones of one name, milestones that every fact would pass, and items that would be forgotten before they are overdue.</summary>
internal sealed class ActivityCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    private const string Code = "ESB-CFG-ACTIVITY";

    public void Check(ConfigErrors errors)
    {
        var retention = configuration.Section<AuditConfig>("audit").Retention;
        foreach (var activity in configuration.Named<ActivityConfig>("activities").Values)
        {
            if (activity.IsSound("milestones") && activity.Milestones.Count == 0) errors.Add(Code, activity, "milestones", "expected at least one milestone");
            if (activity.OverdueAfter >= retention) errors.Add(Code, activity, "overdueAfter", $"expected less than audit.retention ({retention.TotalDays:0.###}d), for that long after the last fact an item is kept");
            foreach (var again in activity.Milestones.GroupBy(milestone => milestone.Milestone).SelectMany(same => same.Skip(1))) errors.Add(Code, again, "name", "expected a name that no other milestone of the activity has");
            foreach (var milestone in activity.Milestones.Where(milestone => milestone.When is { IsWhole: true, Kind: null, Endpoint: null, Process: null, Record: null, Subject: null }))
                errors.Add(Code, milestone, "when", "expected at least one of kind, endpoint, process, name, subject");
        }
    }
}
