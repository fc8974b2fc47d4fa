using System.Text.Json.Nodes;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Where an instance of one definition stands in another one. Immutable.</summary>
/// <remarks>A step with an <c>id</c> is found by it; one without only where the same step has the same path in both. So nothing is guessed:
/// what is not found is an obstacle.</remarks>
internal sealed class PositionMap(BoundProgram from, BoundProgram to)
{
    private readonly JsonNode? _before = JsonNode.Parse(from.Model.Content);
    private readonly JsonNode? _after = JsonNode.Parse(to.Model.Content);
    private readonly ILookup<(string, Type), int> _targets = Enumerable.Range(0, to.Count).ToLookup(at => (to[at].Place, to[at].GetType()));

    public BoundProgram To => to;

    /// <summary>The reason why an instance cannot be moved; null if it can.</summary>
    public string? FindObstacle(InstanceState state)
    {
        foreach (var at in PositionsOf(state).Distinct())
        {
            if (Find(at) is null)
                return $"the step {from[at].Place} ({from[at].Kind}) has no counterpart: give it an id, or leave it as it is";
        }

        foreach (var token in state.Tokens.Where(token => token.Wait?.Hash is not null))
        {
            if (MatchOf(to[Find(token.At)!.Value]).Names.FirstOrDefault(name => !state.Keys.ContainsKey(name)) is { } missing)
                return $"the step {from[token.At].Place} would wait with the key '{missing}', which the instance does not have";
        }

        return null;
    }

    /// <summary>The instruction in the other definition; null if there is none.</summary>
    public int? Find(int at)
    {
        var instruction = from[at];
        if (!IsSameStep(instruction.Place))
            return null;
        var found = _targets[(instruction.Place, instruction.GetType())].ToList();
        return found.Count == 1 ? found[0] : null;
    }

    /// <summary>The keys for which an instruction waits.</summary>
    public static MatchedKeys MatchOf(Instruction instruction) =>
        instruction switch
        {
            ReceiveInstruction receive => receive.Match,
            CollectInstruction collect => collect.Flow.Match,
            _ => MatchedKeys.None,
        };

    private static IEnumerable<int> PositionsOf(InstanceState state) =>
        state
            .Tokens.SelectMany(token => token.Frames.SelectMany(frame => new[] { frame.At, frame.Afterwards ?? -1 }).Prepend(token.At))
            .Concat(state.Scopes.Select(scope => scope.At))
            .Where(at => at >= 0);

    // The place of a step without an id is its path in the configuration.
    private bool IsSameStep(string place) =>
        !place.Contains("steps[", StringComparison.Ordinal)
        || (Read(_before, place) is { } before && Read(_after, place) is { } after && JsonNode.DeepEquals(before, after));

    private static JsonNode? Read(JsonNode? root, string path)
    {
        foreach (var part in path.Replace("[", ".[", StringComparison.Ordinal).Split('.', StringSplitOptions.RemoveEmptyEntries))
        {
            root =
                part[0] == '[' && int.TryParse(part.AsSpan(1, part.Length - 2), out var index)
                    ? root is JsonArray items && index < items.Count
                        ? items[index]
                        : null
                    : (root as JsonObject)?[part];
            if (root is null)
                return null;
        }

        return root;
    }
}
