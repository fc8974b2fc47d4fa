using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;

namespace Esb.Host.Logging;

/// <summary>From which level on each category is logged: as configured, and as operators changed it since. Thread-safe.</summary>
/// <remarks>A change makes the loggers look up their levels anew; a line that is not logged costs what it cost before.</remarks>
internal sealed class LogLevels(LogLevel level, TimeProvider time) : IConfigureOptions<LoggerFilterOptions>, IOptionsChangeTokenSource<LoggerFilterOptions>, IDisposable
{
    private readonly Lock _gate = new();
    private LogLevel _configured = level;
    private readonly Dictionary<string, ChangedLevel> _changed = new(StringComparer.OrdinalIgnoreCase);
    private CancellationTokenSource _source = new();
    private ITimer? _timer;

    public string Name => Options.DefaultName;

    /// <summary>What holds where nothing more special does.</summary>
    public LogLevel Default
    {
        get
        {
            lock (_gate) return _changed.TryGetValue(LogCategories.Default, out var changed) ? changed.Level : _configured;
        }
    }

    /// <summary>What was changed, by category.</summary>
    public IReadOnlyList<ChangedLevel> Changed
    {
        get
        {
            lock (_gate) return [.. _changed.Values.OrderBy(changed => changed.Category, StringComparer.Ordinal)];
        }
    }

    /// <summary>Goes on with what another configuration says; what operators changed stays.</summary>
    public void Reconfigure(LogLevel configured)
    {
        lock (_gate)
        {
            if (_configured == configured) return;
            _configured = configured;
        }

        Announce();
    }

    /// <summary>Changes the level of categories at once.</summary>
    /// <param name="levels">Category and level; null goes back to what was configured.</param>
    /// <param name="duration">After which they go back by themselves; null for ever.</param>
    public void Change(IReadOnlyDictionary<string, LogLevel?> levels, TimeSpan? duration)
    {
        lock (_gate)
        {
            foreach (var (category, level) in levels)
            {
                if (level is { } chosen) _changed[category] = new ChangedLevel(category, chosen, time.GetUtcNow() + duration);
                else _changed.Remove(category);
            }
        }

        Announce();
    }

    /// <inheritdoc/>
    public void Configure(LoggerFilterOptions options)
    {
        var level = Default;

        // A filter takes the place of the minimum level, so it has to know both.
        options.Rules.Add(new LoggerFilterRule(null, null, null, (_, category, entry) => entry >= level && (IsOurs(category) || level == LogLevel.Trace || entry >= LogLevel.Warning)));
        foreach (var changed in Changed.Where(changed => changed.Category != LogCategories.Default)) options.Rules.Add(new LoggerFilterRule(null, changed.Category, changed.Level, null));
    }

    public IChangeToken GetChangeToken()
    {
        lock (_gate) return new CancellationChangeToken(_source.Token);
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
            _timer = _changed.Values.Min(changed => changed.Until) is { } next ? time.CreateTimer(_ => Expire(), null, Max(next - time.GetUtcNow(), TimeSpan.Zero), Timeout.InfiniteTimeSpan) : null;
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
                if (changed.Until <= now) _changed.Remove(category);
            }
        }

        Announce();
    }

    private static TimeSpan Max(TimeSpan one, TimeSpan other) => one > other ? one : other;
}

/// <summary>A category whose level an operator changed.</summary>
/// <param name="Category">With everything below it.</param>
/// <param name="Level">From which on it is logged.</param>
/// <param name="Until">When that ends; null for never.</param>
internal sealed record ChangedLevel(string Category, LogLevel Level, DateTimeOffset? Until);
