using System.Runtime.InteropServices;
using System.Text.Json;

namespace Esb.Content.Json.Scanning;

/// <summary>The steps that may arrive at a value next, for every object and array that is open.</summary>
internal sealed class JsonSteps(JsonStepNode root)
{
    private readonly List<JsonLevel> _levels = [];
    private readonly List<JsonStepNode> _waiting = []; // of all open values, outermost first
    private readonly List<JsonStepNode> _arrived = [root];

    /// <summary>How many objects and arrays are open.</summary>
    public int Depth => _levels.Count;

    /// <summary>The steps that arrive at the value that comes now.</summary>
    public List<JsonStepNode> Arrived => _arrived;

    /// <summary>The steps that wait for children of the innermost object or array.</summary>
    public ReadOnlySpan<JsonStepNode> Here => CollectionsMarshal.AsSpan(_waiting)[_levels[^1].StepsStart..];

    /// <summary>A name tells which member comes.</summary>
    public void MeetName(ref Utf8JsonReader reader)
    {
        _arrived.Clear();
        foreach (var node in Here)
        {
            if (node.Step.Kind == JsonStepKind.Any || (node.Step.Kind == JsonStepKind.Member && reader.ValueTextEquals(node.Name)))
                _arrived.Add(node);
        }
    }

    /// <summary>A value comes; of an element its position tells which it is, of a member its name did.</summary>
    public void MeetValue()
    {
        if (_levels.Count == 0 || !_levels[^1].IsArray)
            return;
        var index = CollectionsMarshal.AsSpan(_levels)[^1].Elements++;
        _arrived.Clear();
        foreach (var node in Here)
        {
            if (node.Step.TakesElement(index))
                _arrived.Add(node);
        }
    }

    /// <summary>Goes down into the value that comes now.</summary>
    public void Begin(bool isArray)
    {
        _levels.Add(new JsonLevel { IsArray = isArray, StepsStart = _waiting.Count });
        foreach (var node in _arrived)
            _waiting.AddRange(node.Next);
    }

    /// <summary>Comes up from the innermost object or array.</summary>
    public void End()
    {
        CollectionsMarshal.SetCount(_waiting, _levels[^1].StepsStart);
        _levels.RemoveAt(_levels.Count - 1);
    }
}
