using Esb.Core.Messages;

namespace Esb.Content.Xml.Scanning;

/// <summary>The location paths of a configuration, merged into one tree of steps, so that one pass over a document answers all questions
/// about it.</summary>
/// <remarks>Filled while a configuration is compiled, by one thread; then shared by all.</remarks>
/// <param name="xml">Reads the documents.</param>
/// <param name="checksWhole">True to read every document to its end, even if its beginning decides.</param>
internal sealed class PathSet(XmlInput xml, bool checksWhole = false)
{
    public bool ChecksWhole => checksWhole;

    /// <summary>The root of all documents, from which every path begins.</summary>
    public PathNode Root { get; } = new(PathStep.Document, isUnique: true);

    /// <summary>The number of questions.</summary>
    public int Count { get; private set; }

    /// <summary>Adds a question about the nodes of a path.</summary>
    public void Ask(IEnumerable<PathStep> path, PathQuestion question)
    {
        question.Index = Count++;
        path.Aggregate(Root, (node, step) => node.Follow(step)).Ask(question);
    }

    /// <summary>The pass over a buffered body, or its beginning, shared by all copies of the message; it resumes where the last question
    /// stopped.</summary>
    public XmlScan Scan(MessageBody body) => body.ViewSoFar(static body => new XmlScans(body)).Of(this, xml);
}
