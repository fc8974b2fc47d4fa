using System.Diagnostics;
using Esb.Core;
using Esb.Core.Replays;
using Esb.Host.Lifecycle;

namespace Esb.Host.Management;

/// <summary><c>/health/live</c>: the process responds. <c>/health/ready</c>: messages accepted now can be confirmed and recorded.</summary>
internal static class HealthRoutes
{
    private static readonly TimeSpan CheckTime = TimeSpan.FromSeconds(5);

    public static void MapHealth(this IEndpointRouteBuilder routes, IServiceProvider bus)
    {
        var health = routes.MapGroup("/health").WithMetadata(new OpenRoute()).AddEndpointFilter(LeaveOutOfTraces);
        var checks = bus.GetServices<IHealthCheck>().ToList();
        var state = bus.GetRequiredService<HostState>();
        var time = bus.GetRequiredService<TimeProvider>();
        health.MapGet("/live", () => Results.Ok(new { live = true }));
        var backlog = bus.GetService<IBacklogMonitor>();
        var notices = bus.GetServices<IHealthNotices>().ToList();
        var obstacles = new RecentObstacles(() => FindObstaclesAsync(checks, time, CancellationToken.None), time);
        health.MapGet(
            "/ready",
            async (HttpContext context, CancellationToken cancellationToken) =>
            {
                if (state.Obstacle is { } obstacle)
                    return Answer(context, [new Obstacle("host", obstacle)], [], null);
                return Answer(
                    context,
                    await obstacles.FindAsync(cancellationToken),
                    [.. notices.SelectMany(source => source.Notices)],
                    backlog?.Current
                );
            }
        );
    }

    // Conditions that need an operator do not prevent the host from accepting messages.
    private static IResult Answer(HttpContext context, IReadOnlyList<Obstacle> obstacles, IReadOnlyList<string> notices, Backlog? backlog)
    {
        var ready = obstacles.Count == 0;
        var status = ready ? StatusCodes.Status200OK : StatusCodes.Status503ServiceUnavailable;
        // Names of maps, paths and reasons are for those with a key.
        return context.Features.Get<ManagementUser>() is null
            ? TypedResults.Json(new { ready }, statusCode: status)
            : TypedResults.Json(
                new
                {
                    ready,
                    obstacles,
                    notices,
                    backlog,
                },
                statusCode: status
            );
    }

    private static async Task<IReadOnlyList<Obstacle>> FindObstaclesAsync(
        IEnumerable<IHealthCheck> checks,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        using var late = new CancellationTokenSource(CheckTime, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        var found = await Task.WhenAll(checks.Select(check => RunAsync(check, either.Token)));
        return [.. found.OfType<Obstacle>()];
    }

    private static async Task<Obstacle?> RunAsync(IHealthCheck check, CancellationToken cancellationToken)
    {
        try
        {
            return await check.CheckAsync(cancellationToken).AsTask().WaitAsync(cancellationToken) is { } reason
                ? new Obstacle(check.Name, reason)
                : null;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            return new Obstacle(check.Name, $"no answer within {CheckTime.TotalSeconds:0} s");
        }
        catch (Exception ex)
        {
            return new Obstacle(check.Name, $"the check failed: {ex.GetType().Name}"); // the exception text may be confidential
        }
    }

    // Probes arrive every few seconds: their spans would hide the others.
    private static ValueTask<object?> LeaveOutOfTraces(EndpointFilterInvocationContext context, EndpointFilterDelegate next)
    {
        if (Activity.Current is { } activity)
            activity.ActivityTraceFlags &= ~ActivityTraceFlags.Recorded;
        return next(context);
    }

    private sealed record Obstacle(string Name, string Reason);

    /// <summary>Runs the checks at most once per second, however many ask. Thread-safe.</summary>
    private sealed class RecentObstacles(Func<Task<IReadOnlyList<Obstacle>>> find, TimeProvider time)
    {
        private static readonly TimeSpan Fresh = TimeSpan.FromSeconds(1);

        private readonly Lock _gate = new();
        private Task<IReadOnlyList<Obstacle>>? _found;
        private long _askedAt;

        public Task<IReadOnlyList<Obstacle>> FindAsync(CancellationToken cancellationToken)
        {
            lock (_gate)
            {
                if (_found is null || (_found.IsCompleted && time.GetElapsedTime(_askedAt) >= Fresh))
                    (_found, _askedAt) = (find(), time.GetTimestamp());
                return _found.WaitAsync(cancellationToken);
            }
        }
    }
}
