using System.Globalization;
using System.Text;
using Esb.Core.Storage;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.Spool;

/// <summary>Keeps the position up to which a spool has been moved in a file, and deletes the segments before it. Not thread-safe.</summary>
/// <remarks>An older position after a crash is harmless: facts that are moved twice are stored once.</remarks>
internal sealed partial class SpoolProgress(string folder, TimeProvider time, ILogger logger)
{
    private static readonly TimeSpan SaveInterval = TimeSpan.FromSeconds(1);

    private readonly string _path = Path.Combine(folder, "moved");
    private long _savedAt = time.GetTimestamp();
    private long _savedSegment;

    public SegmentPosition Position { get; private set; } = SegmentPosition.Start;

    /// <summary>Reads the file; starts at the beginning if there is no file, or if it names segments that no longer exist.</summary>
    public void Load(SegmentPosition committed)
    {
        if (!File.Exists(_path) || File.ReadAllText(_path).Split(' ') is not [var segment, var offset])
            return;
        if (
            !long.TryParse(segment, CultureInfo.InvariantCulture, out var number)
            || !long.TryParse(offset, CultureInfo.InvariantCulture, out var at)
        )
            return;
        var position = new SegmentPosition(number, at);
        if (!committed.IsBefore(position))
            Position = position;
    }

    /// <summary>Sets a new position. The file is updated if a second has passed since the last update, or if a new segment
    /// begins.</summary>
    public void Advance(SegmentPosition position)
    {
        Position = position;
        if (position.Segment > _savedSegment || time.GetElapsedTime(_savedAt) >= SaveInterval)
            Save();
    }

    public void Save()
    {
        try
        {
            var unfinished = _path + ".part";
            OwnerFile.Write(
                unfinished,
                Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{Position.Segment} {Position.Offset}"))
            );
            File.Move(unfinished, _path, overwrite: true);
            foreach (var segment in SegmentFile.List(folder).Where(segment => segment.Number < Position.Segment))
                segment.Delete();
            (_savedAt, _savedSegment) = (time.GetTimestamp(), Position.Segment);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            LogNotSaved(ex);
        }
    }

    [LoggerMessage(
        EventId = 4520,
        Level = LogLevel.Warning,
        Message = "how far the audit spool was moved could not be saved; some facts will be moved again after a restart"
    )]
    private partial void LogNotSaved(Exception exception);
}
