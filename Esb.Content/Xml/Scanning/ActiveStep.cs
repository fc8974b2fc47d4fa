namespace Esb.Content.Xml.Scanning;

/// <summary>A step that waits for nodes below one element.</summary>
internal struct ActiveStep
{
    public PathNode Node;

    /// <summary>How many children of that element have come as far as to be counted (the predicate of position).</summary>
    public int Siblings;
}
