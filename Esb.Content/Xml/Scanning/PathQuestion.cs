namespace Esb.Content.Xml.Scanning;

/// <summary>A question about the nodes that a location path selects. It receives them in document order until it is decided.
/// Immutable.</summary>
internal abstract class PathQuestion
{
    /// <summary>Its place among the answers of a scan.</summary>
    public int Index { get; set; } = -1;

    /// <summary>Receives a node where it begins.</summary>
    /// <returns>True to read the text of this node.</returns>
    public abstract bool Meet(ref PathAnswer answer);

    /// <summary>Receives the text of a node where it ends: a node that contains others ends after them.</summary>
    public virtual void Read(string text, ref PathAnswer answer) { }
}

/// <summary>Whether there is one.</summary>
internal sealed class AnyNode : PathQuestion
{
    public override bool Meet(ref PathAnswer answer)
    {
        answer.Count = 1;
        answer.IsDecided = true;
        return false;
    }
}

/// <summary>How many there are, which only the end of the document decides.</summary>
internal sealed class NodeCount : PathQuestion
{
    public override bool Meet(ref PathAnswer answer)
    {
        answer.Count++;
        return false;
    }
}

/// <summary>The text of the first.</summary>
internal sealed class FirstText : PathQuestion
{
    public override bool Meet(ref PathAnswer answer) => answer.Count++ == 0;

    public override void Read(string text, ref PathAnswer answer)
    {
        answer.Text = text;
        answer.IsDecided = true;
    }
}

/// <summary>Whether the text of one satisfies a comparison.</summary>
internal sealed class AnyText(Func<string, bool> holds) : PathQuestion
{
    public override bool Meet(ref PathAnswer answer) => true;

    public override void Read(string text, ref PathAnswer answer)
    {
        if (!holds(text))
            return;
        answer.Count = 1;
        answer.IsDecided = true;
    }
}
