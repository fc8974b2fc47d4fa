using System.Buffers;
using System.Threading.Channels;
using Microsoft.Extensions.Logging;
using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Segments;

/// <summary>Appends records to the segments of a folder, durably; calls at the same time share one write and one flush. Thread-safe.</summary>
/// <remarks>The last segment is repaired when the folder is opened; one process writes to a folder at a time.</remarks>
internal sealed partial class SegmentLog : IAsyncDisposable
{
    // Two buffers for each record, and at most 1,024 of them fit one call of the system (IOV_MAX).
    private const int MaxGroup = 512;

    private readonly string _folder;
    private readonly SegmentOptions _options;
    private readonly ILogger _logger;
    private readonly FolderLock _lock;
    private readonly GroupCommit<ReadOnlyMemory<byte>> _commits;
    private readonly Channel<bool> _grown = Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });
    private readonly Channel<bool> _rolled = Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });
    private SafeFileHandle? _file;
    private volatile SegmentPosition _committed;

    private SegmentLog(string folder, SegmentOptions options, ILogger logger, FolderLock folderLock)
    {
        _folder = folder;
        _options = options;
        _logger = logger;
        _lock = folderLock;
        _committed = new SegmentRecovery(folder, logger).Run();
        _commits = new GroupCommit<ReadOnlyMemory<byte>>(CommitAsync, MaxGroup);
    }

    /// <summary>Behind the last durable record.</summary>
    public SegmentPosition Committed => _committed;

    /// <summary>Has something to read after records were appended.</summary>
    public ChannelReader<bool> Grown => _grown.Reader;

    /// <summary>Has something to read after a segment came to its end.</summary>
    public ChannelReader<bool> Rolled => _rolled.Reader;

    /// <summary>What stands in the way of writing; null when nothing does.</summary>
    public string? Trouble { get; private set; }

    /// <exception cref="Core.Errors.EsbException"><c>ESB-STORE-INUSE</c>: another process writes to the folder.</exception>
    public static SegmentLog Open(string folder, SegmentOptions options, ILogger logger)
    {
        var folderLock = FolderLock.Take(folder);
        try
        {
            return new SegmentLog(folder, options, logger, folderLock);
        }
        catch
        {
            folderLock.Dispose();
            throw;
        }
    }

    /// <summary>Appends a record; durable when it returns.</summary>
    /// <exception cref="IOException">It could not be written.</exception>
    public Task AppendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken) => _commits.AddAsync(payload, cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _commits.DisposeAsync();
        _grown.Writer.TryComplete();
        _rolled.Writer.TryComplete();
        _file?.Dispose();
        _lock.Dispose();
    }

    private Task CommitAsync(IReadOnlyList<ReadOnlyMemory<byte>> payloads)
    {
        try
        {
            Roll();
            _file ??= SegmentHandle.OpenForWriting(new SegmentFile(_folder, _committed.Segment));
            var end = Write(_file, _committed.Offset, payloads);
            RandomAccess.FlushToDisk(_file);
            _committed = _committed with { Offset = end };
            Trouble = null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            Abandon(ex);
            throw;
        }

        _grown.Writer.TryWrite(true);
        return Task.CompletedTask;
    }

    private void Roll()
    {
        if (_committed.Offset < _options.MaxSegmentBytes) return;
        _file?.Dispose();
        _file = null;
        _committed = new SegmentPosition(_committed.Segment + 1, 0);
        _rolled.Writer.TryWrite(true);
    }

    private static long Write(SafeFileHandle file, long offset, IReadOnlyList<ReadOnlyMemory<byte>> payloads)
    {
        var headers = ArrayPool<byte>.Shared.Rent(payloads.Count * SegmentRecord.HeaderBytes);
        try
        {
            var buffers = new ReadOnlyMemory<byte>[2 * payloads.Count];
            var end = offset;
            for (var i = 0; i < payloads.Count; i++)
            {
                var header = headers.AsMemory(i * SegmentRecord.HeaderBytes, SegmentRecord.HeaderBytes);
                SegmentRecord.WriteHeader(payloads[i].Span, header.Span);
                buffers[2 * i] = header;
                buffers[2 * i + 1] = payloads[i];
                end += header.Length + payloads[i].Length;
            }

            RandomAccess.Write(file, buffers, offset);
            return end;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(headers);
        }
    }

    // After a failed flush nobody knows what of the file is on disk, and a second flush would not tell: the next group goes to a new segment.
    private void Abandon(Exception exception)
    {
        Trouble = "the disk cannot be written";
        LogNotWritten(exception, _folder);
        if (_file is null) return;

        try
        {
            RandomAccess.SetLength(_file, _committed.Offset);
        }
        catch (IOException ex)
        {
            LogNotWritten(ex, _folder); // readers skip what is unfinished there
        }

        _file.Dispose();
        _file = null;
        _committed = new SegmentPosition(_committed.Segment + 1, 0);
    }

    [LoggerMessage(EventId = 4505, Level = LogLevel.Error, Message = "cannot write to {Folder}")]
    private partial void LogNotWritten(Exception exception, string folder);
}
