using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;

namespace Esb.Audit.Activities;

/// <summary>Compiles the section <c>activities</c>. Refuses activities without a milestone, milestones of one name, and milestones that
/// every fact would pass; warns of items that may be forgotten before they are overdue.</summary>
internal sealed class ActivityCompiler(IReadOnlyDictionary<string, ActivityConfig> activities, AuditConfig audit, ConfigErrors errors)
    : ICompiler<IReadOnlyList<ActivityModel>>
{
    private const string Code = "ESB-CFG-ACTIVITY";

    public IReadOnlyList<ActivityModel> Compile()
    {
        foreach (var activity in activities.Values)
        {
            if (activity.IsSound("milestones") && activity.Milestones.Count == 0)
                errors.Add(Code, activity, "milestones", "expected at least one milestone");
            if (audit.IsSound("retention") && activity.OverdueAfter >= audit.Retention)
                errors.Warn(
                    Code,
                    activity,
                    "overdueAfter",
                    $"an item is kept for audit.retention ({audit.Retention.TotalDays:0.###}d) after its last fact: one of which "
                        + $"nothing more is heard is forgotten before it is overdue"
                );
            foreach (var again in activity.Milestones.GroupBy(milestone => milestone.Milestone).SelectMany(same => same.Skip(1)))
                errors.Add(Code, again, "name", "expected a name that no other milestone of the activity has");
            foreach (
                var milestone in activity.Milestones.Where(milestone =>
                    milestone.When is { IsWhole: true, Kind: null, Endpoint: null, Process: null, Record: null, Subject: null }
                )
            )
                errors.Add(Code, milestone, "when", "expected at least one of kind, endpoint, process, name, subject");
        }

        return [.. activities.Values.Where(activity => activity.IsWhole).Select(activity => new ActivityModel(activity))];
    }
}
