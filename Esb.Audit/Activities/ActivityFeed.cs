using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Activities;

/// <summary>Hands what audit facts say of activities to their store, after the facts themselves are in theirs. Thread-safe.</summary>
/// <remarks>
/// Whoever keeps facts lets go of them only when this has returned: what is lost by a crash in between comes again with the fact, and is merged once.
/// </remarks>
internal sealed partial class ActivityFeed(Live<IReadOnlyList<ActivityModel>> models, IActivityStore store, ILogger<ActivityFeed> logger)
{
    public IReadOnlyList<ActivityModel> Models => models.Current;

    /// <returns>How many of the facts belonged to activities.</returns>
    /// <exception cref="EsbException">The store is away; the same facts have to be handed over again.</exception>
    public async Task<int> FollowAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        var followed = models.Current;
        if (followed.Count == 0) return 0;
        var progress = new List<ActivityProgress>();
        var count = 0;
        foreach (var fact in facts)
        {
            var before = progress.Count;
            foreach (var model in followed) model.Project(fact, progress);
            if (progress.Count > before) count++;
        }

        if (progress.Count == 0) return 0;
        try
        {
            await store.RecordAsync(progress, cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            LogRefused(ex, progress.Count); // for ever: nothing is gained by holding up the facts themselves
        }

        return count;
    }

    [LoggerMessage(EventId = 4030, Level = LogLevel.Error, Message = "the store of activities refuses what {Count} facts say; the activities are not complete")]
    private partial void LogRefused(Exception exception, int count);
}
