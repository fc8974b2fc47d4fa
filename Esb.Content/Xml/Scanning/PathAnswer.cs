namespace Esb.Content.Xml.Scanning;

/// <summary>What a scan knows so far about a question; where its document has ended, that is all there is to know.</summary>
internal struct PathAnswer
{
    /// <summary>How many nodes were met, or 1 where one satisfies the question.</summary>
    public int Count;

    /// <summary>The text of the first.</summary>
    public string? Text;

    /// <summary>Whether nothing that follows can change it.</summary>
    public bool IsDecided;
}
