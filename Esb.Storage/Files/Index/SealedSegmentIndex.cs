using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Esb.Core.Audit;
using Esb.Core.Storage;
using Esb.Storage.Segments;
using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Files.Index;

/// <summary>The index of a segment that does not grow any more, in a file beside it: a header, the rows, the postings by key. Only the
/// header is in memory.</summary>
internal sealed class SealedSegmentIndex : ISegmentIndex
{
    // Rows hold kinds as numbers: when these mean something else, the index is of another format and is made again.
    private static readonly ulong Format = FactKeys.Text($"index 2: {string.Join(' ', Enum.GetNames<AuditKind>())}");

    private readonly Header _header;

    private SealedSegmentIndex(SegmentFile segment, Header header)
    {
        Segment = segment;
        _header = header;
    }

    public SegmentFile Segment { get; }

    public Guid NewestId => _header.NewestId;

    public DateTimeOffset NewestTime => new(_header.NewestTicks, TimeSpan.Zero);

    private long PostingsOffset => Unsafe.SizeOf<Header>() + (long)_header.Rows * Unsafe.SizeOf<FactRow>();

    /// <summary>Null where there is no index, or none that can be read: then the segment is read instead.</summary>
    public static SealedSegmentIndex? TryOpen(SegmentFile segment)
    {
        if (!File.Exists(segment.IndexPath))
            return null;

        using var file = File.OpenHandle(segment.IndexPath);
        var header = default(Header);
        var index = Read(file, 0, new Span<Header>(ref header)) ? new SealedSegmentIndex(segment, header) : null;
        return index is not null && header.Format == Format && RandomAccess.GetLength(file) == index.OffsetOfPosting(header.Postings)
            ? index
            : null;
    }

    public static SealedSegmentIndex Write(SegmentFile segment, Guid newestId, long newestTicks, FactRow[] rows, FactPosting[] postings)
    {
        var header = new Header(Format, rows.Length, postings.Length, newestId, newestTicks);
        var unfinished = segment.IndexPath + ".part";
        using (var file = OwnerFile.Open(unfinished, FileMode.Create))
        {
            file.Write(MemoryMarshal.AsBytes(new ReadOnlySpan<Header>(in header)));
            file.Write(MemoryMarshal.AsBytes<FactRow>(rows));
            file.Write(MemoryMarshal.AsBytes<FactPosting>(postings));
            file.Flush(flushToDisk: true);
        }

        File.Move(unfinished, segment.IndexPath, overwrite: true);
        return new SealedSegmentIndex(segment, header);
    }

    public IReadOnlyList<FactRow> All()
    {
        using var file = TryOpenFile();
        var rows = new FactRow[_header.Rows];
        return file is not null && Read(file, Unsafe.SizeOf<Header>(), rows.AsSpan()) ? rows : [];
    }

    public IReadOnlyList<FactRow> Find(ulong key)
    {
        using var file = TryOpenFile();
        if (file is null)
            return [];

        var found = new List<FactRow>();
        for (var at = FirstOf(key, file); at < _header.Postings && ReadPosting(file, at) is { } posting && posting.Key == key; at++)
        {
            var row = default(FactRow);
            if (Read(file, Unsafe.SizeOf<Header>() + (long)posting.Row * Unsafe.SizeOf<FactRow>(), new Span<FactRow>(ref row)))
                found.Add(row);
        }

        return found;
    }

    private int FirstOf(ulong key, SafeFileHandle file)
    {
        var (low, high) = (0, _header.Postings);
        while (low < high)
        {
            var middle = low + (high - low) / 2;
            if (ReadPosting(file, middle).Key < key)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    private FactPosting ReadPosting(SafeFileHandle file, int at)
    {
        var posting = default(FactPosting);
        Read(file, OffsetOfPosting(at), new Span<FactPosting>(ref posting));
        return posting;
    }

    private long OffsetOfPosting(int at) => PostingsOffset + (long)at * Unsafe.SizeOf<FactPosting>();

    // Opened for each search, so that a segment can be removed at any time.
    private SafeFileHandle? TryOpenFile()
    {
        try
        {
            return File.OpenHandle(Segment.IndexPath, share: FileShare.ReadWrite | FileShare.Delete);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    private static bool Read<T>(SafeFileHandle file, long offset, Span<T> target)
        where T : unmanaged
    {
        var bytes = MemoryMarshal.AsBytes(target);
        var count = 0;
        while (count < bytes.Length && RandomAccess.Read(file, bytes[count..], offset + count) is > 0 and var read)
            count += read;
        return count == bytes.Length;
    }

    [StructLayout(LayoutKind.Sequential, Pack = 4)]
    private readonly record struct Header(ulong Format, int Rows, int Postings, Guid NewestId, long NewestTicks);
}
