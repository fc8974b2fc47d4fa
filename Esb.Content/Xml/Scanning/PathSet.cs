using Esb.Core.Messages;

namespace Esb.Content.Xml.Scanning;

/// <summary>The location paths of a configuration, merged into one tree of steps, so that one pass over a document answers all questions about it.</summary>
/// <remarks>Filled while a configuration is compiled, by one thread; then shared by all.</remarks>
/// <param name="xml">Reads the documents.</param>
/// <param name="checksWhole">Whether a document is read to its end, also where its beginning decides.</param>
internal sealed class PathSet(XmlInput xml, bool checksWhole = false)
{
    public bool ChecksWhole => checksWhole;

    /// <summary>The root of all documents, from which every path begins.</summary>
    public PathNode Root { get; } = new(PathStep.Document, isUnique: true);

    /// <summary>How many questions are asked.</summary>
    public int Count { get; private set; }

    /// <summary>Asks a question about the nodes of a path.</summary>
    public void Ask(IEnumerable<PathStep> path, PathQuestion question)
    {
        question.Index = Count++;
        path.Aggregate(Root, (node, step) => node.Follow(step)).Ask(question);
    }

    /// <summary>The pass over a buffered body, or its beginning, shared by all copies of the message: it goes on from where the last question left it.</summary>
    public XmlScan Scan(MessageBody body) => body.ViewSoFar(static body => new XmlScans(body)).Of(this, xml);
}
