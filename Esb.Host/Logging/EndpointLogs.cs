using System.Collections.Concurrent;
using System.Globalization;
using Esb.Core.Configuration;
using Esb.Host.Telemetry;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Host.Logging;

/// <summary>Writes the log into files: entries about an endpoint into a file of its name, all others into <c>host.log</c>.
/// Thread-safe.</summary>
/// <remarks>A write failure does not stop the host: it is reported on standard error, once for each file until it works again.</remarks>
/// <param name="place">The location of the files; null for no files. See <see cref="CheckFolder"/>.</param>
/// <param name="showsStacks">True to include stack traces of the bus's own exceptions.</param>
/// <param name="time">The clock of the log lines.</param>
/// <param name="complaints">Standard error.</param>
internal sealed class EndpointLogs(LogPlace? place, bool showsStacks, TimeProvider time, TextWriter complaints) : ILoggerProvider
{
    private readonly ConcurrentDictionary<string, bool> _failing = new(StringComparer.OrdinalIgnoreCase);
    private volatile LogPlace? _place = place;

    /// <summary>Creates the folder; reports <c>ESB-CFG-FOLDER</c> if it cannot be written to.</summary>
    public static void CheckFolder(TelemetryConfig telemetry, ConfigErrors errors)
    {
        if (telemetry.LogFolder is not { } folder)
            return;
        try
        {
            LogPlace.Require(folder);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            errors.Add("ESB-CFG-FOLDER", telemetry, "logFolder", $"the log cannot be written there: {ex.Message}");
        }
    }

    /// <summary>Moves the log to another location; null stops writing files.</summary>
    public void Move(LogPlace? next)
    {
        var old = _place;
        _place = next;
        old?.Dispose();
    }

    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName);

    public void Dispose() => _place?.Dispose();

    private void Write<TState>(in LogEntry<TState> entry)
    {
        if (_place is not { } current)
            return;
        using var text = new StringWriter(CultureInfo.InvariantCulture);
        text.Write(
            $"{time.GetLocalNow():yyyy-MM-dd HH:mm:ss.fff} [{Environment.CurrentManagedThreadId}] {LogText.LevelOf(entry.LogLevel)} "
                + $"{LogCategory.Shorten(entry.Category)} "
        );
        LogText.WriteMessage(entry, showsStacks, text);
        text.WriteLine();
        Add(current, current.FileOf(EndpointOf(entry.State)), text.ToString());
    }

    private static string? EndpointOf<TState>(TState state)
    {
        if (state is not IReadOnlyList<KeyValuePair<string, object?>> values)
            return null;
        foreach (var (name, value) in values)
        {
            if (name == "Endpoint" && value is string endpoint)
                return endpoint;
        }

        return null;
    }

    private void Add(LogPlace current, string name, string text)
    {
        try
        {
            current.Add(name, text);
            if (!_failing.IsEmpty)
                _failing.TryRemove(name, out _);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            if (_failing.TryAdd(name, true))
                complaints.WriteLine($"ESB-LOG-FILE: the log cannot be written to {name}.log: {ex.Message}");
        }
    }

    private sealed class Logger(EndpointLogs logs, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None && logs._place is not null; // the filters have been applied

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        ) => logs.Write(new LogEntry<TState>(logLevel, category, eventId, state, exception, formatter));
    }
}
