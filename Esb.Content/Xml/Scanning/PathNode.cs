namespace Esb.Content.Xml.Scanning;

/// <summary>A step that several paths may share, and what is asked of the nodes at which it arrives.</summary>
internal sealed class PathNode(PathStep step)
{
    private readonly List<PathNode> _next = [];
    private readonly List<PathQuestion> _questions = [];

    public PathStep Step { get; } = step;

    /// <summary>The steps that go on from here.</summary>
    public IReadOnlyList<PathNode> Next => _next;

    public IReadOnlyList<PathQuestion> Questions => _questions;

    public void Ask(PathQuestion question) => _questions.Add(question);

    /// <summary>The node behind this one for a step.</summary>
    public PathNode Follow(PathStep step)
    {
        var next = _next.Find(node => node.Step.Text == step.Text);
        if (next is null) _next.Add(next = new PathNode(step));
        return next;
    }
}
