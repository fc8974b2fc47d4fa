namespace Esb.Storage.Segments;

/// <summary>Receives records in the order of their log, one group after the other.</summary>
internal interface ISegmentListener
{
    /// <summary>A record was accepted for writing; it may still fail, unless <see cref="Flushed"/> follows.</summary>
    /// <param name="group">The records that were written, and will be flushed; valid during the call.</param>
    void Written(IReadOnlyList<BatchedRecord> group);

    /// <param name="group">The records that are flushed; valid during the call.</param>
    /// <param name="end">Behind the last of them. All lie in one segment.</param>
    void Flushed(IReadOnlyList<BatchedRecord> group, SegmentPosition end);

    /// <param name="group">The records that were written, but could not be flushed, and whose callers hear of that; valid during the
    /// call.</param>
    void Lost(IReadOnlyList<BatchedRecord> group);
}
