using System.Collections.Concurrent;
using Esb.Host.Telemetry;

namespace Esb.Host.Logging;

/// <summary>The folder that the log is written into, with its files. Thread-safe.</summary>
/// <param name="folder">Has to be there.</param>
/// <param name="maxSize">Of each file, in bytes.</param>
/// <param name="endpoints">Names of those that have a file of their own.</param>
internal sealed class LogPlace(string folder, long maxSize, IEnumerable<string> endpoints) : IDisposable
{
    private const string HostFile = "host";

    private readonly ConcurrentDictionary<string, LogFile> _files = new(StringComparer.OrdinalIgnoreCase);
    private readonly HashSet<string> _endpoints = endpoints.ToHashSet(StringComparer.Ordinal);

    /// <summary>Where a configuration wants the log; null where it wants none in files.</summary>
    public static LogPlace? Of(TelemetryConfig telemetry, IEnumerable<string> endpoints) =>
        telemetry.LogFolder is { } folder ? new LogPlace(folder, telemetry.LogFileSize.Bytes, endpoints) : null;

    /// <summary>Makes the folder, and finds out whether it can be written to.</summary>
    /// <exception cref="IOException">It cannot.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write there.</exception>
    public static void Require(string folder)
    {
        Directory.CreateDirectory(folder);
        using var file = new LogFile(folder, HostFile, long.MaxValue);
        file.Add("");
    }

    /// <summary>The file of an endpoint, or that of the rest.</summary>
    public string FileOf(string? endpoint) => endpoint is not null && _endpoints.Contains(endpoint) ? endpoint : HostFile;

    /// <summary>Adds a line to a file, which is opened for its first.</summary>
    /// <exception cref="IOException">The disk is full, or the folder has gone.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write there.</exception>
    public void Add(string file, string line) => _files.GetOrAdd(file, added => new LogFile(folder, added, maxSize)).Add(line);

    public void Dispose()
    {
        foreach (var file in _files.Values) file.Dispose();
    }
}
