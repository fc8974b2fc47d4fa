using System.Buffers;

namespace Esb.Storage.Segments;

/// <summary>Records that are written together, as they will lie in the segment. Not thread-safe.</summary>
internal sealed class SegmentBatch
{
    private const int MaxBytes = 1 << 20;
    private const int MaxRecords = 512; // who waits for a flush does not wait for all that others bring
    private const int FirstBytes = 16 * 1024;

    private readonly List<BatchedRecord> _records = [];
    private byte[] _bytes = ArrayPool<byte>.Shared.Rent(FirstBytes);

    public IReadOnlyList<BatchedRecord> Records => _records;

    public int Length { get; private set; }

    /// <summary>True if a caller waits until it is flushed.</summary>
    public bool IsAwaited { get; private set; }

    /// <summary>The position behind its last record, once it is written.</summary>
    public SegmentPosition End { get; set; } = SegmentPosition.Start;

    /// <summary>Completes once it is written. All callers share it, so that an append allocates nothing.</summary>
    public TaskCompletionSource Written { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Completes once it is flushed.</summary>
    public TaskCompletionSource Flushed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

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
        Written.TrySetException(failure);
        Flushed.TrySetException(failure);
        _ = (Written.Task.Exception, Flushed.Task.Exception); // observed: often only one of the two is awaited
        Release();
    }

    public void Complete()
    {
        Flushed.TrySetResult();
        Release();
    }

    private void Release()
    {
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = [];
        Length = 0;
    }

    private void Reserve(int size)
    {
        if (Length + size <= _bytes.Length) return;
        var larger = ArrayPool<byte>.Shared.Rent(Math.Max(Length + size, 2 * _bytes.Length));
        _bytes.AsSpan(0, Length).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = larger;
    }
}
