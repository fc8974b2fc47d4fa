using Esb.Core.Messages;

namespace Esb.Content.Json.Scanning;

/// <summary>The passes over one body, one for each set of paths; a configuration has one set. Thread-safe.</summary>
internal sealed class JsonScans(MessageBody body)
{
    private readonly Lock _gate = new();
    private readonly List<(JsonPathSet Paths, JsonScan Scan)> _scans = new(capacity: 1);

    /// <summary>The number of bytes of the body that all passes together have read.</summary>
    public long BytesRead
    {
        get
        {
            lock (_gate)
                return _scans.Sum(known => (long)known.Scan.Position);
        }
    }

    public JsonScan Of(JsonPathSet paths)
    {
        lock (_gate)
        {
            foreach (var known in _scans)
            {
                if (known.Paths == paths)
                    return known.Scan;
            }

            var scan = new JsonScan(
                paths,
                body.BytesSoFar,
                body.IsComplete,
                paths.ChecksMessages && body is { IsComplete: true, IsPassedOn: false }
            );
            _scans.Add((paths, scan));
            return scan;
        }
    }
}
