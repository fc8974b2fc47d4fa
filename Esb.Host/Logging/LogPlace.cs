using System.Collections.Concurrent;
using Esb.Host.Telemetry;

namespace Esb.Host.Logging;

/// <summary>The log folder and its files. Thread-safe.</summary>
/// <param name="folder">The folder; must exist.</param>
/// <param name="maxSize">The maximum size of each file, in bytes.</param>
/// <param name="endpoints">Names of the endpoints with a file of their own.</param>
internal sealed class LogPlace(string folder, long maxSize, IEnumerable<string> endpoints) : IDisposable
{
    private const string HostFile = "host";

    private readonly ConcurrentDictionary<string, LogFile> _files = new(StringComparer.OrdinalIgnoreCase);
    private readonly HashSet<string> _endpoints = endpoints.ToHashSet(StringComparer.Ordinal);

    /// <summary>The log location of a configuration; null if it configures no log files.</summary>
    public static LogPlace? Of(TelemetryConfig telemetry, IEnumerable<string> endpoints) =>
        telemetry.LogFolder is { } folder ? new LogPlace(folder, telemetry.LogFileSize.Bytes, endpoints) : null;

    /// <summary>Creates the folder and checks that it is writable.</summary>
    /// <exception cref="IOException">The folder cannot be created or written to.</exception>
    /// <exception cref="UnauthorizedAccessException">The user lacks write permission.</exception>
    public static void Require(string folder)
    {
        Directory.CreateDirectory(folder);
        using var file = new LogFile(folder, HostFile, long.MaxValue);
        file.Add("");
    }

    /// <summary>The file of an endpoint, or <c>host.log</c>.</summary>
    public string FileOf(string? endpoint) => endpoint is not null && _endpoints.Contains(endpoint) ? endpoint : HostFile;

    /// <summary>Appends a line to a file, which is opened at its first line.</summary>
    /// <exception cref="IOException">The disk is full, or the folder was removed.</exception>
    /// <exception cref="UnauthorizedAccessException">The user lacks write permission.</exception>
    public void Add(string file, string line) => _files.GetOrAdd(file, added => new LogFile(folder, added, maxSize)).Add(line);

    public void Dispose()
    {
        foreach (var file in _files.Values)
            file.Dispose();
    }
}
