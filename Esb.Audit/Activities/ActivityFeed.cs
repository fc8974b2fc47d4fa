using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Activities;

/// <summary>Passes the activity progress found in audit facts to the activity store, after the audit store has accepted the facts.
/// Thread-safe.</summary>
/// <remarks>
/// The caller releases facts only after this returns: progress lost in a crash arrives again with its fact and is merged once.
/// </remarks>
internal sealed partial class ActivityFeed(Live<IReadOnlyList<ActivityModel>> models, IActivityStore store, ILogger<ActivityFeed> logger)
{
    public IReadOnlyList<ActivityModel> Models => models.Current;

    /// <returns>The number of facts that belong to activities.</returns>
    /// <exception cref="EsbException">The store is unavailable; the caller must pass the same facts again.</exception>
    public async Task<int> FollowAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        var followed = models.Current;
        if (followed.Count == 0)
            return 0;
        var progress = new List<ActivityProgress>();
        var count = 0;
        foreach (var fact in facts)
        {
            var before = progress.Count;
            foreach (var model in followed)
                model.Project(fact, progress);
            if (progress.Count > before)
                count++;
        }

        if (progress.Count == 0)
            return 0;
        try
        {
            await store.RecordAsync(progress, cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            LogRefused(ex, progress.Count); // permanent: holding up the facts would not help
        }

        return count;
    }

    [LoggerMessage(
        EventId = 4030,
        Level = LogLevel.Error,
        Message = "The store of activities refuses {Count} facts; the activities are incomplete"
    )]
    private partial void LogRefused(Exception exception, int count);
}
