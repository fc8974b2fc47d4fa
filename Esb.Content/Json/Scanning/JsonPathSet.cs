using Esb.Content.Json.Paths;
using Esb.Core.Messages;

namespace Esb.Content.Json.Scanning;

/// <summary>The JSONPaths of a configuration, merged into one tree of steps, so that one pass over a document answers all questions about it.</summary>
/// <remarks>Filled while a configuration is compiled, by one thread; then shared by all.</remarks>
/// <param name="checksWhole">Whether a document is read to its end, also where its beginning decides.</param>
/// <param name="newTime">What ends evaluations that take too long; null where nothing does.</param>
internal sealed class JsonPathSet(bool checksWhole = false, Func<JsonTime>? newTime = null)
{
    public bool ChecksWhole => checksWhole;

    /// <summary>The root of all documents, from which every path begins.</summary>
    public JsonStepNode Root { get; } = new(new JsonStep(JsonStepKind.Any));

    /// <summary>How many questions are asked.</summary>
    public int Count { get; private set; }

    /// <summary>The time of one question about one document; null where there is no limit.</summary>
    public JsonTime? NewTime() => newTime?.Invoke();

    /// <summary>Asks a question about the values at the end of a path.</summary>
    public void Ask(IEnumerable<JsonStep> path, JsonQuestion question)
    {
        question.Index = Count++;
        path.Aggregate(Root, (node, step) => node.Follow(step)).Questions.Add(question);
    }

    /// <summary>The pass over a buffered body, or its beginning, shared by all copies of the message: it goes on from where the last question left it.</summary>
    public JsonScan Scan(MessageBody body) => body.ViewSoFar(static body => new JsonScans(body)).Of(this);
}
