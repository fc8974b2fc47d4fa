using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Replays;

namespace Esb.Host.Management.DeadLetters;

/// <summary>Creates replay jobs, shows their progress, and pauses, resumes and cancels them.</summary>
internal static class ReplayRoutes
{
    public static IEndpointRouteBuilder MapReplayRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var store = bus.GetRequiredService<IReplayJobStore>();
        var desk = bus.GetRequiredService<IDeadLetterDesk>();
        var limits = bus.GetRequiredService<Live<LimitsConfig>>();
        var replays = api.MapGroup("/replays");
        replays.MapGet("", (HttpRequest request, CancellationToken cancellationToken) => ListAsync(store, request, cancellationToken));
        replays.MapPost(
            "",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                DeadLetterRoutes.AllowEditing(request, limits.Current);
                return await MakeAsync(desk, await JsonBody.ReadAsync<ReplayBody>(request, cancellationToken), request, cancellationToken);
            }
        );
        replays.MapPost(
            "/preview",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                DeadLetterRoutes.AllowEditing(request, limits.Current);
                var body = await JsonBody.ReadAsync<ReplayBody>(request, cancellationToken);
                return await desk.PreviewAsync(body.ToRequest(), cancellationToken);
            }
        );
        replays.MapGet(
            "/{id}",
            async (string id, CancellationToken cancellationToken) =>
                ReplayJobView.Of(await store.GetAsync(Problems.RequireId(id), cancellationToken) ?? throw Unknown(id))
        );
        foreach (
            var (verb, state) in new[] { ("pause", ReplayState.Paused), ("resume", ReplayState.Running), ("cancel", ReplayState.Cancelled) }
        )
            replays.MapPost(
                $"/{{id}}/{verb}",
                (string id, HttpRequest request, CancellationToken cancellationToken) =>
                    ChangeAsync(desk, id, state, request, cancellationToken)
            );
        return api;
    }

    /// <summary>Creates a job; a repeated command returns the same answer.</summary>
    public static async Task<IResult> MakeAsync(
        IDeadLetterDesk desk,
        ReplayBody body,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var job = await desk.ReplayAsync(
            body.ToRequest(),
            Operators.CommandOf(request),
            Operators.DecisionOf(request, body.Reason),
            cancellationToken
        );
        return TypedResults.Accepted($"/api/replays/{job.Id}", ReplayJobView.Of(job));
    }

    private static async Task<Page<ReplayJobView>> ListAsync(
        IReplayJobStore store,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var query = new QueryReader(request.Query).Allow("after", "before", "limit");
        var limit = query.PageSize();
        var jobs = await store.ListAsync(query.PositionId(), limit, cancellationToken);
        return new Page<ReplayJobView>([.. jobs.Select(ReplayJobView.Of)], jobs.Count == limit ? jobs[^1].Id.ToString() : null);
    }

    private static async Task<ReplayJobView> ChangeAsync(
        IDeadLetterDesk desk,
        string id,
        ReplayState state,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var body = await JsonBody.ReadAsync<ReasonBody>(request, cancellationToken);
        var job = await desk.ChangeAsync(Problems.RequireId(id), state, Operators.DecisionOf(request, body.Reason), cancellationToken);
        return ReplayJobView.Of(job ?? throw Unknown(id));
    }

    private static Esb.Core.Errors.EsbException Unknown(string id) => Problems.NotFound($"There is no replay job {id}.");
}

/// <summary>The reason for an operator's action.</summary>
internal sealed record ReasonBody
{
    public string? Reason { get; init; }
}
