namespace Esb.Storage.Segments;

/// <summary>A record to append.</summary>
/// <param name="Payload">Its bytes.</param>
/// <param name="Source">The object that they were made of, for the listener of the log; null if there is no listener.</param>
internal readonly record struct SegmentEntry(ReadOnlyMemory<byte> Payload, object? Source = null)
{
    /// <summary>The number of bytes that it takes in a segment.</summary>
    public int Size => SegmentRecord.HeaderBytes + Payload.Length;
}
