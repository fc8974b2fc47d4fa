using System.Collections.Concurrent;
using System.Globalization;
using Esb.Core.Configuration;
using Esb.Host.Telemetry;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Host.Logging;

/// <summary>Writes the log into files: what is about an endpoint into the one of its name, the rest into <c>host.log</c>. Thread-safe.</summary>
/// <remarks>A file is opened for its first line. What cannot be written is no reason to stop: standard error says so, once for each file until it works again.</remarks>
/// <param name="folder">Where they are; see <see cref="RequireFolder"/>.</param>
/// <param name="maxSize">Of each, in bytes.</param>
/// <param name="endpoints">Names of those that have a file.</param>
/// <param name="showsStacks">Also of exceptions of the bus itself.</param>
/// <param name="time">For the time of each line.</param>
/// <param name="complaints">Standard error.</param>
internal sealed class EndpointLogs(string folder, long maxSize, IReadOnlySet<string> endpoints, bool showsStacks, TimeProvider time, TextWriter complaints) : ILoggerProvider
{
    private const string HostFile = "host";

    private readonly ConcurrentDictionary<string, LogFile> _files = new(StringComparer.OrdinalIgnoreCase);
    private readonly ConcurrentDictionary<string, bool> _failing = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Makes the folder, and finds out whether it can be written to.</summary>
    /// <exception cref="ConfigurationRefusedException">With <c>ESB-CFG-FOLDER</c> where it cannot.</exception>
    public static void RequireFolder(TelemetryConfig telemetry)
    {
        if (telemetry.LogFolder is not { } folder) return;
        try
        {
            Directory.CreateDirectory(folder);
            using var file = new LogFile(folder, HostFile, long.MaxValue);
            file.Add("");
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            var errors = new ConfigErrors();
            errors.Add("ESB-CFG-FOLDER", telemetry, "logFolder", $"the log cannot be written there: {ex.Message}");
            throw new ConfigurationRefusedException(errors.All);
        }
    }

    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName);

    public void Dispose()
    {
        foreach (var file in _files.Values) file.Dispose();
    }

    private void Write<TState>(in LogEntry<TState> entry)
    {
        using var text = new StringWriter(CultureInfo.InvariantCulture);
        text.Write($"{time.GetLocalNow():yyyy-MM-dd HH:mm:ss.fff} [{Environment.CurrentManagedThreadId}] {LogText.LevelOf(entry.LogLevel)} {LogCategory.Shorten(entry.Category)} ");
        LogText.WriteMessage(entry, showsStacks, text);
        text.WriteLine();
        Add(FileOf(entry.State), text.ToString());
    }

    private void Add(string name, string text)
    {
        try
        {
            _files.GetOrAdd(name, added => new LogFile(folder, added, maxSize)).Add(text);
            if (!_failing.IsEmpty) _failing.TryRemove(name, out _);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            if (_failing.TryAdd(name, true)) complaints.WriteLine($"ESB-LOG-FILE: the log cannot be written to {name}.log: {ex.Message}");
        }
    }

    private string FileOf<TState>(TState state)
    {
        if (state is not IReadOnlyList<KeyValuePair<string, object?>> values) return HostFile;
        foreach (var (name, value) in values)
        {
            if (name == "Endpoint" && value is string endpoint && endpoints.Contains(endpoint)) return endpoint;
        }

        return HostFile;
    }

    private sealed class Logger(EndpointLogs logs, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None; // the filters of all providers have decided

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            logs.Write(new LogEntry<TState>(logLevel, category, eventId, state, exception, formatter));
    }
}
