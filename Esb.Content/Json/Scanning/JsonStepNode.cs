using System.Text;

namespace Esb.Content.Json.Scanning;

/// <summary>A step that several paths may share, with the questions about the values at which it arrives.</summary>
internal sealed class JsonStepNode(JsonStep step)
{
    private readonly byte[] _name = Encoding.UTF8.GetBytes(step.Name);
    private readonly List<JsonStepNode> _next = [];
    private readonly List<JsonQuestion> _questions = [];

    public JsonStep Step => step;

    /// <summary>The name of a member, in UTF-8.</summary>
    public ReadOnlySpan<byte> Name => _name;

    /// <summary>The steps that follow this one.</summary>
    public List<JsonStepNode> Next => _next;

    public List<JsonQuestion> Questions => _questions;

    /// <summary>The node behind this one for a step.</summary>
    public JsonStepNode Follow(JsonStep next)
    {
        var node = _next.Find(candidate => candidate.Step == next);
        if (node is null)
            _next.Add(node = new JsonStepNode(next));
        return node;
    }
}
