using System.Runtime.CompilerServices;
using Esb.Core.Activities;
using Esb.Core.Audit;

namespace Esb.Audit.Activities;

/// <inheritdoc cref="IActivityDesk"/>
internal sealed class ActivityDesk(ActivityFeed feed, IActivityStore store, IAuditStore facts, TimeProvider time) : IActivityDesk
{
    private const int PageSize = 1_000;

    public IReadOnlyList<string> Names => [.. feed.Models.Select(model => model.Name)];

    public async Task<ActivityReport?> ReportAsync(
        string activity,
        DateTimeOffset from,
        DateTimeOffset to,
        TimeSpan? bucket,
        CancellationToken cancellationToken
    )
    {
        if (Find(activity) is not { } model)
            return null;
        var tally = new ActivityTally(model, from, to, bucket);
        await foreach (
            var item in store.FindAsync(
                new ActivityQuery
                {
                    Activity = activity,
                    From = from,
                    To = to,
                },
                cancellationToken
            )
        )
            tally.Add(item);
        var open = await store.CountOpenAsync(activity, startedBefore: null, cancellationToken);
        long? overdue = model.OverdueAfter is { } limit
            ? await store.CountOpenAsync(activity, time.GetUtcNow() - limit, cancellationToken)
            : null;
        return tally.ToReport(open, overdue);
    }

    public async IAsyncEnumerable<ActivityItemStatus> FindAsync(
        ActivityQuery query,
        ActivityState? state,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        if (Find(query.Activity) is not { } model)
            yield break;
        var now = time.GetUtcNow();
        var asked = query with { IsCompleted = state is null ? query.IsCompleted : state == ActivityState.Completed };
        if (state == ActivityState.Overdue)
        {
            if (model.OverdueAfter is not { } limit)
                yield break;
            asked = asked with { To = Earlier(asked.To, now - limit) };
        }

        var left = query.Limit ?? int.MaxValue;
        if (state == ActivityState.InProgress)
            asked = asked with { Limit = null }; // the overdue ones are left out here
        await foreach (var item in store.FindAsync(asked, cancellationToken))
        {
            var status = StatusOf(item, model, now);
            if (state is not null && status.State != state)
                continue;
            yield return status;
            if (--left == 0)
                yield break;
        }
    }

    public async Task<long> RebuildAsync(DateTimeOffset from, DateTimeOffset to, CancellationToken cancellationToken)
    {
        long followed = 0;
        Guid? before = null;
        while (true)
        {
            var page = await facts
                .FindAsync(
                    new AuditQuery
                    {
                        From = from,
                        To = to,
                        Before = before,
                        Limit = PageSize,
                        WithBodies = false,
                    },
                    cancellationToken
                )
                .ToListAsync(cancellationToken);
            followed += await feed.FollowAsync(page, cancellationToken);
            if (page.Count < PageSize)
                return followed;
            before = page[^1].Id;
        }
    }

    private static DateTimeOffset Earlier(DateTimeOffset? one, DateTimeOffset other) => one < other ? one.Value : other;

    private static ActivityItemStatus StatusOf(ActivityItem item, ActivityModel model, DateTimeOffset now)
    {
        var dueAt = item.StartedAt + model.OverdueAfter;
        var state =
            item.CompletedAt is not null ? ActivityState.Completed
            : dueAt <= now ? ActivityState.Overdue
            : ActivityState.InProgress;
        return new ActivityItemStatus(item, state, dueAt);
    }

    private ActivityModel? Find(string activity) => feed.Models.FirstOrDefault(model => model.Name == activity);
}
