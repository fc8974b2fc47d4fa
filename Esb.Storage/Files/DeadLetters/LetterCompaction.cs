using Esb.Storage.Segments;

namespace Esb.Storage.Files.DeadLetters;

/// <summary>Finds segments of which little still counts, and what has to be written again before they can go.</summary>
internal static class LetterCompaction
{
    private const int GroupSize = 1000;

    /// <summary>The segments, the one being written not among them, of which less than half still counts.</summary>
    public static IReadOnlyList<SegmentFile> Worthwhile(LetterBook book, string folder, long current)
    {
        var live = book.Letters.Values.Select(entry => entry.Written).Concat(book.Jobs.Values.Where(entry => entry.Job is not null).Select(entry => entry.Written))
            .GroupBy(written => written.Position.Segment)
            .ToDictionary(segment => segment.Key, segment => segment.Sum(written => written.Bytes));
        return [.. SegmentFile.List(folder).Where(segment => segment.Number < current && 2 * live.GetValueOrDefault(segment.Number) < new FileInfo(segment.Path).Length)];
    }

    /// <summary>What still counts of a segment: letters and jobs that stand in it, and what it tells about letters that stand before it.</summary>
    /// <param name="book">What is known.</param>
    /// <param name="segment">The segment.</param>
    /// <param name="oldest">The oldest of those that stay.</param>
    /// <param name="read">Reads a letter.</param>
    public static IEnumerable<IReadOnlyList<StoredItem>> Keep(LetterBook book, long segment, long oldest, Func<SegmentPosition, Guid, StoredItem?> read)
    {
        foreach (var entry in book.Letters.Values.Where(entry => entry.Written.Position.Segment == segment).ToList())
        {
            if (read(entry.Written.Position, entry.Summary.Id) is not { } item) continue; // damaged
            var letter = LetterEvent.Read(item).Letter!.As(entry.Summary);
            yield return [new LetterEvent { Letter = letter }.ToItem(item.Bytes)];
        }

        var jobs = book.Jobs.Values.Where(entry => entry.Job is not null && entry.Written.Position.Segment == segment).ToList();
        foreach (var entry in jobs) yield return [new LetterEvent { Job = entry.Job }.ToItem()];

        var told = book.Letters.Values.Where(entry => entry.Changes is var (first, last) && first <= segment && segment <= last).ToList();
        foreach (var group in told.Chunk(GroupSize))
            yield return [.. group.Select(entry => new LetterEvent { Change = LetterChange.Of(entry.Summary) }.ToItem())];

        foreach (var group in book.Tombstones.NeededAfter(segment, oldest).Chunk(GroupSize)) yield return [new LetterEvent { Removed = group }.ToItem()];
    }
}
