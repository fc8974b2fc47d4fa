using Esb.Core.Configuration;
using Esb.Core.Topics;
using Esb.Host.Logging;
using Esb.Host.Management.Events;

namespace Esb.Host.Management.Logging;

/// <summary>Shows the log levels, and changes them at run time.</summary>
internal static class LogRoutes
{
    public static IEndpointRouteBuilder MapLogRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var levels = bus.GetRequiredService<LogLevels>();
        var farm = bus.GetRequiredService<FarmLogLevels>();
        var self = bus.GetRequiredService<IFarm>().Self;
        var lines = bus.GetServices<ILoggerProvider>().OfType<LogEvents>().Single();
        api.MapGet("/log/events", (HttpRequest request) => LinesOf(lines, new QueryReader(request.Query).Allow("after", "level", "limit")));
        api.MapGet("/log", () => LogView.Of(levels, [self]));
        api.MapPatch(
            "/log",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                var body = await JsonBody.ReadAsync<LogBody>(request, cancellationToken);
                var command = new ChangeLogLevels(LevelsOf(body), DurationOf(body), Operators.DecisionOf(request, reason: null).By);
                var hosts = await farm.ChangeAsync(command, everywhere: body.Hosts == LogHosts.All, cancellationToken);
                return LogView.Of(levels, hosts);
            }
        );
        return api;
    }

    private static Page<LogLine> LinesOf(LogEvents lines, QueryReader query)
    {
        var after = query.Integer("after", 0, int.MaxValue, otherwise: 0);
        return new Page<LogLine>(
            lines.Read(
                after,
                query.Choice<LogLevel>("level") ?? LogLevel.Trace,
                query.Integer("limit", 1, LogEvents.MaxKept, otherwise: 200)
            )
        );
    }

    private static Dictionary<string, LogLevel?> LevelsOf(LogBody body)
    {
        if (body.Levels is not { Count: > 0 and <= FarmLogLevels.MaxLevels } asked)
            throw Problems.Parameter("levels", $"expected 1 to {FarmLogLevels.MaxLevels} categories, each with a level or null");
        var levels = new Dictionary<string, LogLevel?>(StringComparer.OrdinalIgnoreCase);
        foreach (var (name, level) in asked)
        {
            var category = LogCategories.Resolve(name, out var expected) ?? throw Problems.Parameter("levels", $"'{name}': {expected}");
            if (!levels.TryAdd(category, level))
                throw Problems.Parameter("levels", $"'{name}': expected each category once");
        }

        return levels;
    }

    private static TimeSpan? DurationOf(LogBody body)
    {
        if (body.For is not { } text)
            return null;
        return Duration.TryParse(text, out var duration) && duration > TimeSpan.Zero && duration <= FarmLogLevels.LongestChange
            ? duration
            : throw Problems.Parameter("for", "expected a duration such as \"10m\", up to 7d");
    }
}

/// <summary>The scope of a log level change.</summary>
internal enum LogHosts
{
    /// <summary>Every host of the farm.</summary>
    All,

    /// <summary>The host that receives the request.</summary>
    This,
}

/// <summary>A change of log levels.</summary>
internal sealed record LogBody
{
    /// <summary>Category and level; null restores the configured level.</summary>
    public IReadOnlyDictionary<string, LogLevel?>? Levels { get; init; }

    /// <summary>The time after which the configured levels are restored; null for no limit.</summary>
    public string? For { get; init; }

    /// <summary>The scope of the change.</summary>
    public LogHosts Hosts { get; init; }
}

/// <summary>The levels of this host.</summary>
/// <param name="Default">The level that applies without a more specific one; libraries then log warnings only, unless it is
/// <c>trace</c>.</param>
/// <param name="Changed">The levels that operators changed.</param>
/// <param name="Hosts">The hosts that were notified; for a query, the host that answers.</param>
internal sealed record LogView(LogLevel Default, IReadOnlyList<ChangedLevel> Changed, IReadOnlyList<string> Hosts)
{
    public static LogView Of(LogLevels levels, IReadOnlyList<FarmHost> hosts) =>
        new(levels.Default, levels.Changed, [.. hosts.Select(host => host.Name)]);
}
