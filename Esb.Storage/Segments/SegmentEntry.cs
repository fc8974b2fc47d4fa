namespace Esb.Storage.Segments;

/// <summary>A record to append.</summary>
/// <param name="Payload">Its bytes; valid during the call that appends them.</param>
/// <param name="Source">The object that they were made of, for the listener of the log; null if there is no listener.</param>
internal readonly record struct SegmentEntry(ReadOnlyMemory<byte> Payload, object? Source = null)
{
    /// <summary>The number of bytes that it takes in a segment.</summary>
    public int Size => SegmentRecord.HeaderBytes + Payload.Length;
}

/// <summary>A record of a batch.</summary>
/// <param name="Size">The number of bytes that it takes in a segment.</param>
/// <param name="Source">The object that it was made of.</param>
/// <param name="IsAwaited">True if its caller waits until it is flushed.</param>
internal readonly record struct BatchedRecord(int Size, object? Source, bool IsAwaited);
