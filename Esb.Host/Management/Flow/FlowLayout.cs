namespace Esb.Host.Management.Flow;

/// <summary>Places a graph in columns, so that messages flow to the right: the same graph has the same places, whatever the order in which
/// its parts are named.</summary>
/// <remarks>The method of Sugiyama: break cycles, assign layers by the longest path, order each layer by the mean place of the
/// neighbours.</remarks>
internal sealed class FlowLayout
{
    public const int NodeWidth = 176;
    public const int NodeHeight = 48;
    public const int ColumnGap = 88;
    public const int RowGap = 20;
    public const int Margin = 16;

    private const int Sweeps = 8;

    private readonly List<FlowNode> _nodes;
    private readonly Dictionary<string, List<string>> _next = [];
    private readonly Dictionary<string, List<string>> _previous = [];
    private readonly Dictionary<string, int> _layers = [];

    private FlowLayout(FlowGraph graph)
    {
        _nodes = [.. graph.Nodes.OrderBy(node => node.Kind).ThenBy(node => node.Id, StringComparer.Ordinal)];
        foreach (var node in _nodes)
            (_next[node.Id], _previous[node.Id]) = ([], []);
        BreakCycles(graph.Edges);
        foreach (var node in _nodes)
            _layers[node.Id] = LayerOf(node.Id);
        AlignSinks();
        ShortenWays();
    }

    /// <summary>Returns the places of the nodes, and the size of the drawing.</summary>
    public static (IReadOnlyDictionary<string, FlowPlace> Places, int Width, int Height) Of(FlowGraph graph)
    {
        var layers = new FlowLayout(graph).Order();
        var rows = layers.Count == 0 ? 0 : layers.Max(layer => layer.Count);
        var height = (2 * Margin) + Math.Max(0, (rows * (NodeHeight + RowGap)) - RowGap);
        var places = new Dictionary<string, FlowPlace>();
        for (var column = 0; column < layers.Count; column++)
        {
            var used = (layers[column].Count * (NodeHeight + RowGap)) - RowGap;
            for (var row = 0; row < layers[column].Count; row++)
                places[layers[column][row]] = new FlowPlace(
                    Margin + (column * (NodeWidth + ColumnGap)),
                    ((height - used) / 2) + (row * (NodeHeight + RowGap))
                );
        }

        return (places, (2 * Margin) + Math.Max(0, (layers.Count * (NodeWidth + ColumnGap)) - ColumnGap), height);
    }

    // An edge that leads back to a node on the current path is left out of the layers; it is drawn nevertheless.
    private void BreakCycles(IReadOnlyList<FlowEdge> edges)
    {
        var outgoing = edges
            .Where(edge => edge.From != edge.To)
            .GroupBy(edge => edge.From)
            .ToDictionary(group => group.Key, group => group.Select(edge => edge.To).Distinct().Order(StringComparer.Ordinal).ToList());
        var (done, path) = (new HashSet<string>(), new HashSet<string>());
        foreach (var node in _nodes)
        {
            var open = new Stack<(string Id, int Edge)>([(node.Id, 0)]);
            if (done.Contains(node.Id))
                continue;
            path.Add(node.Id);
            while (open.TryPop(out var top))
            {
                var targets = outgoing.GetValueOrDefault(top.Id) ?? [];
                if (top.Edge == targets.Count)
                {
                    path.Remove(top.Id);
                    done.Add(top.Id);
                    continue;
                }

                open.Push(top with { Edge = top.Edge + 1 });
                var target = targets[top.Edge];
                if (path.Contains(target) || !_next.ContainsKey(target))
                    continue;
                _next[top.Id].Add(target);
                _previous[target].Add(top.Id);
                if (!done.Contains(target))
                {
                    path.Add(target);
                    open.Push((target, 0));
                }
            }
        }
    }

    private int LayerOf(string id)
    {
        // Without recursion: a chain of processes may be long.
        var open = new Stack<string>([id]);
        while (open.TryPeek(out var top))
        {
            var unknown = _previous[top].Where(previous => !_layers.ContainsKey(previous)).ToList();
            if (unknown.Count == 0)
            {
                _layers[open.Pop()] = _previous[top].Count == 0 ? 0 : _previous[top].Max(previous => _layers[previous]) + 1;
                continue;
            }

            foreach (var previous in unknown)
                open.Push(previous);
        }

        return _layers[id];
    }

    // Endpoints at which messages leave stand in the last column, so that no way passes behind one.
    private void AlignSinks()
    {
        if (_layers.Count == 0)
            return;
        var last = _layers.Values.Max();
        foreach (var node in _nodes.Where(node => node.Kind == FlowNodeKind.Outbound && _next[node.Id].Count == 0))
            _layers[node.Id] = last;
    }

    // What is not an entry stands just before what it leads to: short ways pass behind fewer nodes.
    private void ShortenWays()
    {
        foreach (
            var node in _nodes
                .Where(node => node.Kind != FlowNodeKind.Inbound && _next[node.Id].Count > 0)
                .OrderByDescending(node => _layers[node.Id])
        )
            _layers[node.Id] = Math.Max(_layers[node.Id], _next[node.Id].Min(next => _layers[next]) - 1);
    }

    private List<List<string>> Order()
    {
        var layers = _nodes
            .GroupBy(node => _layers[node.Id])
            .OrderBy(layer => layer.Key)
            .Select(layer => layer.Select(node => node.Id).ToList())
            .ToList();
        for (var sweep = 0; sweep < Sweeps; sweep++)
        {
            var isForward = sweep % 2 == 0;
            var rows = layers
                .SelectMany(layer => layer.Select((id, row) => (id, Row: row - ((layer.Count - 1) / 2.0))))
                .ToDictionary(place => place.id, place => place.Row);
            foreach (var layer in isForward ? layers : Enumerable.Reverse(layers))
            {
                var ordered = layer
                    .Select((id, row) => (id, Mean: MeanOf(isForward ? _previous[id] : _next[id], rows) ?? rows[id], row))
                    .OrderBy(place => place.Mean)
                    .ThenBy(place => place.row)
                    .ToList();
                for (var row = 0; row < ordered.Count; row++)
                    (layer[row], rows[ordered[row].id]) = (ordered[row].id, row - ((ordered.Count - 1) / 2.0));
            }
        }

        return layers;
    }

    private static double? MeanOf(List<string> neighbours, Dictionary<string, double> rows) =>
        neighbours.Count == 0 ? null : neighbours.Average(id => rows[id]);
}

/// <summary>The upper left corner of a node.</summary>
internal readonly record struct FlowPlace(int X, int Y);

/// <summary>A graph with the places of its nodes, and the size of the drawing. Immutable.</summary>
internal sealed record FlowDrawing(FlowGraph Graph, IReadOnlyDictionary<string, FlowPlace> Places, int Width, int Height);
