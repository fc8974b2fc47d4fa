namespace Esb.Storage.Segments;

/// <summary>Receives records once they are durable, in the order of their log, one group after the other.</summary>
internal interface ISegmentListener
{
    /// <param name="group">The records; valid during the call.</param>
    /// <param name="end">Behind the last of them. All lie in one segment.</param>
    void Appended(IReadOnlyList<SegmentEntry> group, SegmentPosition end);
}
