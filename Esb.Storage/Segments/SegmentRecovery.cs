using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Segments;

/// <summary>Prepares the last segment of a folder for writing: an unfinished end left by a crash is moved to <c>quarantine</c>.</summary>
internal sealed partial class SegmentRecovery(string folder, ILogger logger)
{
    public const string QuarantineFolder = "quarantine";

    /// <summary>The positions of damage that was reported, and that readers will find again.</summary>
    public ISet<SegmentPosition> Damages { get; } = new HashSet<SegmentPosition>();

    /// <summary>Recovers the folder and returns the position at which writing continues.</summary>
    public SegmentPosition Run()
    {
        if (SegmentFile.List(folder) is not [.., var last])
            return new SegmentPosition(1, 0);

        try
        {
            return new SegmentPosition(last.Number, Repair(last));
        }
        catch (IOException ex)
        {
            LogNotRepaired(ex, last);
            return new SegmentPosition(last.Number + 1, 0); // readers skip what is damaged
        }
    }

    private long Repair(SegmentFile segment)
    {
        using var file = SegmentHandle.OpenForWriting(segment);
        var length = RandomAccess.GetLength(file);
        foreach (var scanned in SegmentScanner.Scan(file, 0, length))
        {
            if (scanned.Payload is not null)
                continue;
            if (scanned.End < length)
            {
                Damages.Add(new SegmentPosition(segment.Number, scanned.Offset));
                LogDamaged(segment, scanned.Offset, scanned.End - scanned.Offset);
                continue;
            }

            Quarantine(segment, scanned.Offset, length - scanned.Offset);
            RandomAccess.SetLength(file, scanned.Offset);
            RandomAccess.FlushToDisk(file);
            LogCut(segment, scanned.Offset, length - scanned.Offset);
            return scanned.Offset;
        }

        RandomAccess.FlushToDisk(file); // a killed process may have left it written only, and its readers count on what they find
        return length;
    }

    private void Quarantine(SegmentFile segment, long offset, long bytes)
    {
        var kept = Path.Combine(folder, QuarantineFolder);
        OwnerFolder.Make(kept);
        using var source = new FileStream(segment.Path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        using var target = OwnerFile.Open(Path.Combine(kept, $"{segment.Number:D10}-{offset}-{bytes}.bytes"), FileMode.Create);
        source.Position = offset;
        source.CopyTo(target);
        target.Flush(flushToDisk: true);
    }

    [LoggerMessage(
        EventId = 4502,
        Level = LogLevel.Error,
        Message = "{Segment} was cut at {Offset}: the last {Bytes} bytes hold no whole record and are in quarantine"
    )]
    private partial void LogCut(SegmentFile segment, long offset, long bytes);

    [LoggerMessage(
        EventId = 4503,
        Level = LogLevel.Error,
        Message = "{Segment} is damaged at {Offset}: {Bytes} bytes hold no record; the records around them are kept"
    )]
    private partial void LogDamaged(SegmentFile segment, long offset, long bytes);

    [LoggerMessage(EventId = 4504, Level = LogLevel.Error, Message = "{Segment} could not be repaired; writing continues in the next one")]
    private partial void LogNotRepaired(Exception exception, SegmentFile segment);
}
