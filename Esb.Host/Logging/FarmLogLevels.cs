using Esb.Core;
using Esb.Core.Topics;

namespace Esb.Host.Logging;

/// <summary>Changes log levels here, or on every host of the farm, and does what others tell.</summary>
internal sealed partial class FarmLogLevels(LogLevels levels, IFarm farm, ILogger<FarmLogLevels> logger) : IBusPart
{
    private IDisposable? _hearing;

    public BusStage Stage => BusStage.Outbound;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _hearing = farm.Subscribe<ChangeLogLevels>((from, command, _) =>
        {
            if (from != farm.Self.Id) Obey(command);
            return Task.CompletedTask;
        });
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        _hearing?.Dispose();
        return Task.CompletedTask;
    }

    /// <returns>The hosts that were told.</returns>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-FARM-UNAVAILABLE</c>: done here, but the other hosts may not have heard; repeating it is safe.</exception>
    public async Task<IReadOnlyList<FarmHost>> ChangeAsync(ChangeLogLevels command, bool everywhere, CancellationToken cancellationToken)
    {
        Obey(command);
        if (!everywhere) return [farm.Self];
        await farm.BroadcastAsync(command, cancellationToken);
        return farm.Hosts;
    }

    private void Obey(ChangeLogLevels command)
    {
        levels.Change(command.Levels, command.Duration);
        LogChanged(string.Join(", ", command.Levels.Select(level => $"{level.Key} {level.Value?.ToString() ?? "as configured"}")), command.By);
    }

    [LoggerMessage(EventId = 5120, Level = LogLevel.Warning, Message = "log levels were changed by {By}: {Levels}")]
    private partial void LogChanged(string levels, string by);
}

/// <summary>Tells hosts to change log levels.</summary>
/// <param name="Levels">Category in full, and level; null goes back to what was configured.</param>
/// <param name="Duration">After which they go back by themselves; null for ever.</param>
/// <param name="By">Who wants that.</param>
internal sealed record ChangeLogLevels(IReadOnlyDictionary<string, LogLevel?> Levels, TimeSpan? Duration, string By);
