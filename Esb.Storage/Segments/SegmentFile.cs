using System.Globalization;

namespace Esb.Storage.Segments;

/// <summary>A file of records. Segments of a folder are numbered in the order written; only the last one grows.</summary>
internal readonly record struct SegmentFile(string Folder, long Number)
{
    private const string Extension = ".segment";

    public string Path => System.IO.Path.Combine(Folder, Name + Extension);

    /// <summary>The index beside the segment, made once it does not grow any more.</summary>
    public string IndexPath => System.IO.Path.Combine(Folder, Name + ".index");

    private string Name => Number.ToString("D10", CultureInfo.InvariantCulture);

    /// <summary>The segments of a folder, oldest first; none where the folder does not exist.</summary>
    public static IReadOnlyList<SegmentFile> List(string folder) =>
        !Directory.Exists(folder)
            ? []
            :
            [
                .. Directory
                    .EnumerateFiles(folder, "*" + Extension)
                    .Select(path => System.IO.Path.GetFileNameWithoutExtension(path))
                    .Where(name => long.TryParse(name, NumberStyles.None, CultureInfo.InvariantCulture, out _))
                    .Select(name => new SegmentFile(folder, long.Parse(name, CultureInfo.InvariantCulture)))
                    .OrderBy(segment => segment.Number),
            ];

    public void Delete()
    {
        File.Delete(IndexPath);
        File.Delete(Path);
    }

    public override string ToString() => System.IO.Path.GetFileName(Path);
}

/// <summary>A place between two records of a folder.</summary>
internal sealed record SegmentPosition(long Segment, long Offset)
{
    public static readonly SegmentPosition Start = new(0, 0);

    public bool IsBefore(SegmentPosition other) => Segment < other.Segment || (Segment == other.Segment && Offset < other.Offset);
}
