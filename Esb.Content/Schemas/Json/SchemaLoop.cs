namespace Esb.Content.Schemas.Json;

/// <summary>Finds schemas that come back to themselves without going into the value, so that evaluation would not end.</summary>
internal static class SchemaLoop
{
    /// <summary>A schema that is part of a loop; null if there is none among all that can be reached.</summary>
    public static SchemaNode? Find(SchemaNode root)
    {
        var finished = new Dictionary<SchemaNode, bool>(); // false while it is open
        foreach (var start in AllFrom(root))
        {
            if (finished.ContainsKey(start))
                continue;
            finished[start] = false;
            var open = new Stack<(SchemaNode Node, IEnumerator<SchemaNode> Further)>([(start, start.InPlace.GetEnumerator())]);
            while (open.TryPeek(out var top))
            {
                if (!top.Further.MoveNext())
                    finished[open.Pop().Node] = true;
                else if (!finished.TryGetValue(top.Further.Current, out var isFinished))
                    Open(top.Further.Current);
                else if (!isFinished)
                    return top.Further.Current;
            }

            void Open(SchemaNode next)
            {
                finished[next] = false;
                open.Push((next, next.InPlace.GetEnumerator()));
            }
        }

        return null;
    }

    private static HashSet<SchemaNode> AllFrom(SchemaNode root)
    {
        var (found, waiting) = (new HashSet<SchemaNode> { root }, new Stack<SchemaNode>([root]));
        while (waiting.TryPop(out var node))
        {
            foreach (var next in node.InPlace.Concat(node.Below))
            {
                if (found.Add(next))
                    waiting.Push(next);
            }
        }

        return found;
    }
}
