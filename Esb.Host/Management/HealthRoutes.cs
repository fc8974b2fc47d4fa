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
        health.MapGet("/live", () => TypedResults.Ok(new { live = true }));
        var backlog = bus.GetService<IBacklogMonitor>();
        var notices = bus.GetServices<IHealthNotices>().ToList();
        health.MapGet("/ready", async (CancellationToken cancellationToken) =>
            Answer(await FindObstaclesAsync(checks, state, time, cancellationToken), [.. notices.SelectMany(source => source.Notices)], backlog?.Current));
    }

    // Conditions that need an operator do not prevent the host from accepting messages.
    private static IResult Answer(IReadOnlyList<Obstacle> obstacles, IReadOnlyList<string> notices, Backlog? backlog) =>
        TypedResults.Json(new { ready = obstacles.Count == 0, obstacles, notices, backlog }, statusCode: obstacles.Count == 0 ? StatusCodes.Status200OK : StatusCodes.Status503ServiceUnavailable);

    private static async Task<IReadOnlyList<Obstacle>> FindObstaclesAsync(IEnumerable<IHealthCheck> checks, HostState state, TimeProvider time, CancellationToken cancellationToken)
    {
        if (state.Obstacle is { } obstacle) return [new Obstacle("host", obstacle)];
        using var late = new CancellationTokenSource(CheckTime, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        var found = await Task.WhenAll(checks.Select(check => RunAsync(check, either.Token)));
        return [.. found.OfType<Obstacle>()];
    }

    private static async Task<Obstacle?> RunAsync(IHealthCheck check, CancellationToken cancellationToken)
    {
        try
        {
            return await check.CheckAsync(cancellationToken).AsTask().WaitAsync(cancellationToken) is { } reason ? new Obstacle(check.Name, reason) : null;
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
        if (Activity.Current is { } activity) activity.ActivityTraceFlags &= ~ActivityTraceFlags.Recorded;
        return next(context);
    }

    private sealed record Obstacle(string Name, string Reason);
}
