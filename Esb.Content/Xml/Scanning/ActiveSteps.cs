using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using System.Xml;

namespace Esb.Content.Xml.Scanning;

/// <summary>The steps that may arrive at a node next, for every element that is open.</summary>
internal sealed class ActiveSteps
{
    private readonly List<ActiveStep> _steps = []; // of all open elements, outermost first
    private readonly List<int> _starts = [0]; // where those of each begin
    private readonly List<PathNode> _arrived = [];
    private readonly List<(PathNode Node, int Depth)> _unique = []; // arrived at elements that are open, and at no other ever

    /// <summary>The number of open elements.</summary>
    public int Depth => _starts.Count - 1;

    /// <summary>The steps that wait for nodes directly below the innermost element.</summary>
    public ReadOnlySpan<ActiveStep> Here => CollectionsMarshal.AsSpan(_steps)[_starts[^1]..];

    /// <summary>Activates the steps that follow a step that arrived at the innermost element.</summary>
    public void Enter(PathNode node)
    {
        foreach (var next in node.Next)
            Wait(next);
    }

    /// <summary>Enters the element at which the reader stands.</summary>
    /// <returns>The steps that arrive there; valid until the next call.</returns>
    public List<PathNode> Begin(XmlReader reader)
    {
        var (start, end) = (_starts[^1], _steps.Count);
        _starts.Add(end);
        _arrived.Clear();
        for (var i = start; i < end; i++)
        {
            var node = _steps[i].Node;
            if (
                node.Step.Kind == PathStepKind.Element
                && node.Step.Names(reader)
                && Holds(ref CollectionsMarshal.AsSpan(_steps)[i], reader)
            )
                _arrived.Add(node);
            if (node.Step.Descends)
                Wait(node);
        }

        foreach (var node in _arrived)
        {
            Enter(node);
            if (node.IsUnique)
                _unique.Add((node, Depth));
        }

        return _arrived;
    }

    /// <summary>True if a step has arrived at the innermost element and can arrive at no other; returns each such step once.</summary>
    public bool TryLeave([NotNullWhen(true)] out PathNode? node)
    {
        node = _unique.Count > 0 && _unique[^1].Depth == Depth ? _unique[^1].Node : null;
        if (node is not null)
            _unique.RemoveAt(_unique.Count - 1);
        return node is not null;
    }

    /// <summary>Leaves the innermost element.</summary>
    public void End()
    {
        CollectionsMarshal.SetCount(_steps, _starts[^1]);
        _starts.RemoveAt(_starts.Count - 1);
    }

    // Several paths may lead to the same step (//a//b in an a within an a); the nodes that it selects are one set.
    private void Wait(PathNode node)
    {
        foreach (var step in Here)
        {
            if (step.Node == node)
                return;
        }

        _steps.Add(new ActiveStep { Node = node });
    }

    private static bool Holds(ref ActiveStep active, XmlReader reader)
    {
        foreach (var predicate in active.Node.Step.Predicates)
        {
            var holds = predicate.Holds?.Invoke(reader) ?? ++active.Siblings == predicate.Position;
            if (!holds)
                return false;
        }

        return true;
    }
}
