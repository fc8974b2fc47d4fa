namespace Esb.Content.Xml.Scanning;

/// <summary>A step that several paths may share, with the questions about the nodes at which it arrives.</summary>
/// <param name="step">The step.</param>
/// <param name="isUnique">Whether it arrives at one node at most, whatever the document: the root element, the n-th child of such an
/// element, an attribute of one.</param>
internal sealed class PathNode(PathStep step, bool isUnique)
{
    private readonly List<PathNode> _next = [];
    private readonly List<PathQuestion> _questions = [];

    public PathStep Step { get; } = step;

    /// <inheritdoc cref="PathNode(PathStep, bool)" path="/param[@name='isUnique']"/>
    public bool IsUnique => isUnique;

    /// <summary>The steps that follow this one.</summary>
    public IReadOnlyList<PathNode> Next => _next;

    public IReadOnlyList<PathQuestion> Questions => _questions;

    public void Ask(PathQuestion question) => _questions.Add(question);

    /// <summary>The node behind this one for a step.</summary>
    public PathNode Follow(PathStep step)
    {
        var next = _next.Find(node => node.Step.Text == step.Text);
        if (next is null)
            _next.Add(next = new PathNode(step, isUnique && IsOneAtMost(step)));
        return next;
    }

    // Of the one element at which this step arrives.
    private bool IsOneAtMost(PathStep step) =>
        !step.Descends
        && (Step.IsDocument || step.Kind == PathStepKind.Attribute || step.Predicates.Any(predicate => predicate.Position > 0));
}
