using Esb.Storage.Segments;

namespace Esb.Storage.Spool;

/// <summary>The bytes of a spool's segments: looks at the files a few times a second at most, and counts what is appended in between.
/// Thread-safe.</summary>
internal sealed class SpoolSize(string folder, TimeProvider time)
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(250);

    private readonly Lock _gate = new();
    private long? _measuredAt;
    private long _bytes;

    public long Bytes
    {
        get
        {
            lock (_gate)
            {
                if (_measuredAt is not { } last || time.GetElapsedTime(last) >= Interval)
                    Measure();
                return _bytes;
            }
        }
    }

    /// <summary>Counts what will be appended, unless it would be too much.</summary>
    public bool TryAdd(int bytes, long maximum)
    {
        lock (_gate)
        {
            if (Bytes + bytes > maximum)
                return false;
            _bytes += bytes;
            return true;
        }
    }

    private void Measure()
    {
        _bytes = SegmentFile.List(folder).Sum(LengthOf);
        _measuredAt = time.GetTimestamp();
    }

    private static long LengthOf(SegmentFile segment)
    {
        var file = new FileInfo(segment.Path);
        return file.Exists ? file.Length : 0; // it has been moved meanwhile
    }
}
