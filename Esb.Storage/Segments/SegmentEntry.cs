namespace Esb.Storage.Segments;

/// <summary>A record to append.</summary>
/// <param name="Payload">Its bytes.</param>
/// <param name="Source">What they were made of, for whoever listens to the log; null where nobody does.</param>
internal readonly record struct SegmentEntry(ReadOnlyMemory<byte> Payload, object? Source = null)
{
    /// <summary>The bytes that it takes of a segment.</summary>
    public int Size => SegmentRecord.HeaderBytes + Payload.Length;
}
