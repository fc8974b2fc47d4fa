using System.Globalization;
using Esb.Configuration;
using Esb.Core.Activities;
using Esb.Core.Configuration;

namespace Esb.Host.Management.Activities;

/// <summary>Statistics of business activities: counts, durations and items, over any period.</summary>
internal static class ActivityRoutes
{
    private const int MaxBuckets = 1_000;

    private static readonly TimeSpan DefaultTime = TimeSpan.FromDays(1);

    public static IEndpointRouteBuilder MapActivityRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var desk = bus.GetRequiredService<IActivityDesk>();
        var time = bus.GetRequiredService<TimeProvider>();
        var activities = api.MapGroup("/activities");
        activities.MapGet(
            "",
            (HttpRequest request, CancellationToken cancellationToken) => ListAsync(desk, request, time, cancellationToken)
        );
        activities.MapGet(
            "/{name}",
            (string name, HttpRequest request, CancellationToken cancellationToken) =>
                ReportAsync(desk, name, request, time, cancellationToken)
        );
        activities.MapGet(
            "/{name}/items",
            (string name, HttpRequest request, CancellationToken cancellationToken) => FindAsync(desk, name, request, cancellationToken)
        );
        activities.MapPost(
            "/rebuild",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                var (from, to) = TimeOf(new QueryReader(request.Query).Allow("from", "to"), time);
                return new RebuiltActivities(await desk.RebuildAsync(from, to, cancellationToken));
            }
        );
        return api;
    }

    private static async Task<Page<ActivityReport>> ListAsync(
        IActivityDesk desk,
        HttpRequest request,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        var (from, to) = TimeOf(new QueryReader(request.Query).Allow("from", "to"), time);
        var reports = new List<ActivityReport>();
        foreach (var name in desk.Names)
            reports.Add((await desk.ReportAsync(name, from, to, bucket: null, cancellationToken))!);
        return new Page<ActivityReport>(reports);
    }

    private static async Task<ActivityReport> ReportAsync(
        IActivityDesk desk,
        string name,
        HttpRequest request,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        RequireKnown(desk, name);
        var query = new QueryReader(request.Query).Allow("from", "to", "bucket");
        var (from, to) = TimeOf(query, time);
        return (await desk.ReportAsync(name, from, to, BucketOf(query, to - from), cancellationToken))!;
    }

    private static async Task<Page<ActivityItemView>> FindAsync(
        IActivityDesk desk,
        string name,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var query = new QueryReader(request.Query).Allow("state", "key", "from", "to", "after", "before", "limit");
        var limit = query.PageSize();
        var asked = new ActivityQuery
        {
            Activity = name,
            Key = query.Text("key"),
            From = query.Time("from"),
            To = query.Time("to"),
            Before = BeforeOf(query),
            Limit = limit,
        };
        var state = query.Choice<ActivityState>("state");
        RequireKnown(desk, name);
        var items = await desk.FindAsync(asked, state, cancellationToken).ToListAsync(cancellationToken);
        return new Page<ActivityItemView>([.. items.Select(ActivityItemView.Of)], items.Count == limit ? NextOf(items[^1].Item) : null);
    }

    private static void RequireKnown(IActivityDesk desk, string name)
    {
        if (!desk.Names.Contains(name))
            throw Problems.NotFound($"There is no activity '{name}'{NearestName.Hint(name, desk.Names)}");
    }

    private static (DateTimeOffset From, DateTimeOffset To) TimeOf(QueryReader query, TimeProvider time)
    {
        var to = query.Time("to") ?? time.GetUtcNow();
        var from = query.Time("from") ?? (to - DateTimeOffset.MinValue > DefaultTime ? to - DefaultTime : DateTimeOffset.MinValue);
        return from < to ? (from, to) : throw Problems.Parameter("from", "expected a time before to");
    }

    private static TimeSpan? BucketOf(QueryReader query, TimeSpan whole)
    {
        if (query.Text("bucket") is not { } text)
            return null;
        return Duration.TryParse(text, out var bucket) && bucket > TimeSpan.Zero && whole / bucket <= MaxBuckets
            ? bucket
            : throw Problems.Parameter("bucket", $"expected a duration such as \"1h\", at most {MaxBuckets} of them between from and to");
    }

    private static string NextOf(ActivityItem item) => $"{item.StartedAt.UtcTicks}~{item.Id}";

    private static ActivityPosition? BeforeOf(QueryReader query)
    {
        if (query.Position() is not { } text)
            return null;
        return
            text.Split('~', 2) is [var ticks, var id]
            && long.TryParse(ticks, NumberStyles.None, CultureInfo.InvariantCulture, out var at)
            && at <= DateTimeOffset.MaxValue.UtcTicks
            ? new ActivityPosition(new DateTimeOffset(at, TimeSpan.Zero), id)
            : throw Problems.Parameter("after", "expected what the page before calls next");
    }
}

/// <summary>An item of an activity, with its state.</summary>
internal sealed record ActivityItemView(
    string? Key,
    ActivityState State,
    DateTimeOffset StartedAt,
    DateTimeOffset? DueAt,
    DateTimeOffset? CompletedAt,
    Guid ConversationId,
    IReadOnlyDictionary<string, DateTimeOffset> Milestones,
    IReadOnlyDictionary<string, string> Data
)
{
    public static ActivityItemView Of(ActivityItemStatus status) =>
        new(
            status.Item.Key,
            status.State,
            status.Item.StartedAt,
            status.DueAt,
            status.Item.CompletedAt,
            status.Item.ConversationId,
            status.Item.Milestones,
            status.Item.Data
        );
}

/// <summary>The number of audit facts that belong to activities.</summary>
internal sealed record RebuiltActivities(long Facts);
