using Esb.Content.Json.Paths;

namespace Esb.Content.Json.Scanning;

/// <summary>Compiles a JSONPath for a forward pass: names, positions from the start and wildcards are followed, what comes behind is
/// evaluated over the value reached.</summary>
/// <remarks>
/// Two kinds are left to the tree of the whole document, which gives the same answers: paths that begin with something else (<c>$..a</c>,
/// <c>$[-1]</c>),
/// because they may select anything anywhere, and filters that look at the root.
/// </remarks>
internal static class JsonScanCompiler
{
    /// <summary>The question for the first node of a path; null where it needs the tree.</summary>
    public static JsonQuestion? Compile(JsonPath path, bool wantsText, JsonPathSet paths)
    {
        if (path.ReadsRoot)
            return null;
        var steps = path
            .Segments.Select(segment => StepOf(segment.Only))
            .TakeWhile(step => step is not null)
            .Select(step => step!)
            .ToList();
        var isSingular = steps.TrueForAll(step => step.Kind != JsonStepKind.Any);
        JsonTail? tail = null;
        if (steps.Count < path.Segments.Count)
        {
            // A filter looks at one child at a time; anything else at the value as a whole, which at the root is the document.
            var test = (path.Segments[steps.Count].Only as FilterSelector)?.Test;
            if (test is null && steps.Count == 0)
                return null;
            tail = new JsonTail(test, new JsonPath([.. path.Segments.Skip(test is null ? steps.Count : steps.Count + 1)]));
            if (test is not null)
                (steps, isSingular) = ([.. steps, new JsonStep(JsonStepKind.Any)], false);
        }

        var question = new JsonQuestion(tail, wantsText, isSingular);
        paths.Ask(steps, question);
        return question;
    }

    private static JsonStep? StepOf(JsonSelector? selector) =>
        selector switch
        {
            NameSelector name => new JsonStep(JsonStepKind.Member, Name: name.Name),
            IndexSelector { Index: >= 0 } index => new JsonStep(JsonStepKind.Element, Index: index.Index),
            WildcardSelector => new JsonStep(JsonStepKind.Any),
            _ => null,
        };
}
