namespace Esb.Storage.Segments;

/// <summary>State of a record when the call that appends it returns.</summary>
internal enum SegmentDurability
{
    /// <summary>Flushed to disk.</summary>
    Flushed,

    /// <summary>Written to the file; flushed within <see cref="SegmentOptions.FlushDelay"/>.</summary>
    Written,
}
