using Esb.Core;
using Esb.Core.Topics;

namespace Esb.Host.Logging;

/// <summary>Changes log levels on this host or on every host of the farm, and applies changes received from other hosts.</summary>
internal sealed partial class FarmLogLevels(LogLevels levels, IFarm farm, ILogger<FarmLogLevels> logger) : IBusPart
{
    /// <summary>The most levels that one command changes.</summary>
    public const int MaxLevels = 50;

    /// <summary>The longest time for which levels are changed.</summary>
    public static readonly TimeSpan LongestChange = TimeSpan.FromDays(7);

    private IDisposable? _hearing;

    public BusStage Stage => BusStage.Outbound;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _hearing = farm.Subscribe<ChangeLogLevels>(
            (from, command, _) =>
            {
                if (from != farm.Self.Id && IsSound(command))
                    Obey(command);
                return Task.CompletedTask;
            }
        );
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        _hearing?.Dispose();
        return Task.CompletedTask;
    }

    /// <returns>The hosts that were notified.</returns>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-FARM-UNAVAILABLE</c>: applied on this host, but possibly not on the others;
    /// repeating the change is safe.</exception>
    public async Task<IReadOnlyList<FarmHost>> ChangeAsync(ChangeLogLevels command, bool everywhere, CancellationToken cancellationToken)
    {
        Obey(command);
        if (!everywhere)
            return [farm.Self];
        await farm.BroadcastAsync(command, cancellationToken);
        return farm.Hosts;
    }

    // What the management API checks of its callers, for commands of other hosts: they may be of another version.
    private static bool IsSound(ChangeLogLevels command) =>
        command.Levels.Count is > 0 and <= MaxLevels
        && (command.Duration is not { } span || (span > TimeSpan.Zero && span <= LongestChange))
        && command.Levels.Keys.All(name => LogCategories.Resolve(name, out _) == name);

    private void Obey(ChangeLogLevels command)
    {
        levels.Change(command.Levels, command.Duration);
        LogChanged(
            string.Join(", ", command.Levels.Select(level => $"{level.Key} {level.Value?.ToString() ?? "as configured"}")),
            command.By
        );
    }

    [LoggerMessage(EventId = 5120, Level = LogLevel.Warning, Message = "log levels were changed by {By}: {Levels}")]
    private partial void LogChanged(string levels, string by);
}

/// <summary>Command to hosts to change log levels.</summary>
/// <param name="Levels">Full category name and level; null restores the configured level.</param>
/// <param name="Duration">The time after which the configured levels are restored; null for no limit.</param>
/// <param name="By">The operator.</param>
internal sealed record ChangeLogLevels(IReadOnlyDictionary<string, LogLevel?> Levels, TimeSpan? Duration, string By);
