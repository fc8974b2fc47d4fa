using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;

namespace Esb.Host.Logging;

/// <summary>The minimum log level of each category: as configured, with the changes of operators. Thread-safe.</summary>
/// <remarks>A change makes the loggers read their levels again; the cost of a suppressed line is unchanged.</remarks>
internal sealed class LogLevels(LogLevel level, TimeProvider time)
    : IConfigureOptions<LoggerFilterOptions>,
        IOptionsChangeTokenSource<LoggerFilterOptions>,
        IDisposable
{
    private readonly Lock _gate = new();
    private LogLevel _configured = level;
    private readonly Dictionary<string, ChangedLevel> _changed = new(StringComparer.OrdinalIgnoreCase);
    private CancellationTokenSource _source = new();
    private ITimer? _timer;

    public string Name => Options.DefaultName;

    /// <summary>The level that applies without a more specific one.</summary>
    public LogLevel Default
    {
        get
        {
            lock (_gate)
                return _changed.TryGetValue(LogCategories.Default, out var changed) ? changed.Level : _configured;
        }
    }

    /// <summary>The changed levels, by category.</summary>
    public IReadOnlyList<ChangedLevel> Changed
    {
        get
        {
            lock (_gate)
                return [.. _changed.Values.OrderBy(changed => changed.Category, StringComparer.Ordinal)];
        }
    }

    /// <summary>Applies the level of another configuration; changes by operators remain.</summary>
    public void Reconfigure(LogLevel configured)
    {
        lock (_gate)
        {
            if (_configured == configured)
                return;
            _configured = configured;
        }

        Announce();
    }

    /// <summary>Changes the levels of categories at once.</summary>
    /// <param name="levels">Category and level; null restores the configured level.</param>
    /// <param name="duration">The time after which the configured levels are restored; null for no limit.</param>
    public void Change(IReadOnlyDictionary<string, LogLevel?> levels, TimeSpan? duration)
    {
        lock (_gate)
        {
            foreach (var (category, level) in levels)
            {
                if (level is { } chosen)
                    _changed[category] = new ChangedLevel(category, chosen, time.GetUtcNow() + duration);
                else
                    _changed.Remove(category);
            }
        }

        Announce();
    }

    /// <inheritdoc/>
    public void Configure(LoggerFilterOptions options)
    {
        var level = Default;

        // A filter replaces the minimum level, so it has to apply both.
        options.Rules.Add(
            new LoggerFilterRule(
                null,
                null,
                null,
                (_, category, entry) => entry >= level && (IsOurs(category) || level == LogLevel.Trace || entry >= LogLevel.Warning)
            )
        );
        foreach (var changed in Changed.Where(changed => changed.Category != LogCategories.Default))
            options.Rules.Add(new LoggerFilterRule(null, changed.Category, changed.Level, null));
    }

    public IChangeToken GetChangeToken()
    {
        lock (_gate)
            return new CancellationChangeToken(_source.Token);
    }

    public void Dispose()
    {
        _timer?.Dispose();
        _source.Dispose();
    }

    private static bool IsOurs(string? category) => category?.StartsWith("Esb.", StringComparison.Ordinal) == true;

    private void Announce()
    {
        CancellationTokenSource old;
        lock (_gate)
        {
            (old, _source) = (_source, new CancellationTokenSource());
            _timer?.Dispose();
            _timer = _changed.Values.Min(changed => changed.Until) is { } next
                ? time.CreateTimer(_ => Expire(), null, Max(next - time.GetUtcNow(), TimeSpan.Zero), Timeout.InfiniteTimeSpan)
                : null;
        }

        old.Cancel();
        old.Dispose();
    }

    private void Expire()
    {
        lock (_gate)
        {
            var now = time.GetUtcNow();
            foreach (var (category, changed) in _changed.ToList())
            {
                if (changed.Until <= now)
                    _changed.Remove(category);
            }
        }

        Announce();
    }

    private static TimeSpan Max(TimeSpan one, TimeSpan other) => one > other ? one : other;
}

/// <summary>A category with a level changed by an operator.</summary>
/// <param name="Category">The category, including everything below it.</param>
/// <param name="Level">The minimum level.</param>
/// <param name="Until">The end of the change; null for no limit.</param>
internal sealed record ChangedLevel(string Category, LogLevel Level, DateTimeOffset? Until);
