using System.Buffers;

namespace Esb.Storage.Segments;

/// <summary>Records that are written together, as they will lie in the segment. Not thread-safe.</summary>
internal sealed class SegmentBatch
{
    private const int MaxBytes = 1 << 20;
    private const int MaxRecords = 512; // who waits for a flush does not wait for all that others bring
    private const int FirstBytes = 4 * 1024;
    private const int KeptArrays = 512; // of each size

    // A batch is kept until it is flushed: many of them at once, more than the shared pool keeps.
    private static readonly ArrayPool<byte> Pool = ArrayPool<byte>.Create(MaxBytes, KeptArrays);

    private readonly List<BatchedRecord> _records = [];
    private byte[] _bytes = Pool.Rent(FirstBytes);
    private TaskCompletionSource? _written;
    private TaskCompletionSource? _flushed;

    public IReadOnlyList<BatchedRecord> Records => _records;

    public int Length { get; private set; }

    /// <summary>True if a caller waits until it is flushed.</summary>
    public bool IsAwaited { get; private set; }

    /// <summary>The position behind its last record, once it is written.</summary>
    public SegmentPosition End { get; set; } = SegmentPosition.Start;

    /// <summary>Completes once it is written. All callers share it, so that an append allocates nothing. Asked for under the lock of the
    /// log, while the batch is filled or waits for its flush.</summary>
    public Task Written => (_written ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;

    /// <summary>Completes once it is flushed. Asked for as <see cref="Written"/>.</summary>
    public Task Flushed => (_flushed ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;

    public ReadOnlyMemory<byte> Bytes => _bytes.AsMemory(0, Length);

    public bool HasRoomFor(int size) => Length == 0 || (Length + size <= MaxBytes && _records.Count < MaxRecords);

    public void Add(SegmentEntry entry, bool isAwaited)
    {
        Reserve(entry.Size);
        var record = _bytes.AsSpan(Length, entry.Size);
        SegmentRecord.WriteHeader(entry.Payload.Span, record);
        entry.Payload.Span.CopyTo(record[SegmentRecord.HeaderBytes..]);
        Length += entry.Size;
        IsAwaited |= isAwaited;
        _records.Add(new BatchedRecord(entry.Size, entry.Source, isAwaited));
    }

    /// <summary>Adds those records of another batch whose callers count on a flush that failed.</summary>
    public void Rescue(SegmentBatch other)
    {
        var offset = 0;
        foreach (var record in other._records)
        {
            if (!record.IsAwaited)
            {
                Reserve(record.Size);
                other._bytes.AsSpan(offset, record.Size).CopyTo(_bytes.AsSpan(Length));
                Length += record.Size;
                _records.Add(record);
            }

            offset += record.Size;
        }
    }

    public void Fail(Exception failure)
    {
        Fail(_written, failure);
        Fail(_flushed, failure);
        Release();
    }

    public void CompleteWrite() => _written?.TrySetResult();

    public void Complete()
    {
        _flushed?.TrySetResult();
        Release();
    }

    private static void Fail(TaskCompletionSource? waiting, Exception failure)
    {
        if (waiting?.TrySetException(failure) == true)
            _ = waiting.Task.Exception; // observed: nobody may await it any more
    }

    private void Release()
    {
        Pool.Return(_bytes);
        _bytes = [];
        Length = 0;
    }

    private void Reserve(int size)
    {
        if (Length + size <= _bytes.Length)
            return;
        var larger = Pool.Rent(Math.Max(Length + size, 2 * _bytes.Length));
        _bytes.AsSpan(0, Length).CopyTo(larger);
        Pool.Return(_bytes);
        _bytes = larger;
    }
}
