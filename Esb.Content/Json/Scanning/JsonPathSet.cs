using Esb.Content.Json.Paths;
using Esb.Core.Messages;

namespace Esb.Content.Json.Scanning;

/// <summary>The JSONPaths of a configuration, merged into one tree of steps, so that one pass over a document answers all questions about
/// it.</summary>
/// <remarks>Filled while a configuration is compiled, by one thread; then shared by all.</remarks>
/// <param name="checksWhole">True to read every document to its end, even if its beginning decides.</param>
/// <param name="checksMessages">True to read the documents of messages to their end, but not what a relay passes on.</param>
/// <param name="newTime">Creates the time limit of evaluations; null for no limit.</param>
internal sealed class JsonPathSet(bool checksWhole = false, Func<JsonTime>? newTime = null, bool checksMessages = false)
{
    public bool ChecksWhole => checksWhole;

    public bool ChecksMessages => checksMessages;

    /// <summary>The root of all documents, from which every path begins.</summary>
    public JsonStepNode Root { get; } = new(new JsonStep(JsonStepKind.Any));

    /// <summary>The number of questions.</summary>
    public int Count { get; private set; }

    /// <summary>The time limit of one question about one document; null for no limit.</summary>
    public JsonTime? NewTime() => newTime?.Invoke();

    /// <summary>Adds a question about the values at the end of a path.</summary>
    public void Ask(IEnumerable<JsonStep> path, JsonQuestion question)
    {
        question.Index = Count++;
        path.Aggregate(Root, (node, step) => node.Follow(step)).Questions.Add(question);
    }

    /// <summary>The pass over a buffered body, or its beginning, shared by all copies of the message; it resumes where the last question
    /// stopped.</summary>
    public JsonScan Scan(MessageBody body) => body.ViewSoFar(static body => new JsonScans(body)).Of(this);
}
