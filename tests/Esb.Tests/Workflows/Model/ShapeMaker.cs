using FsCheck;
using FsCheck.Fluent;

namespace Esb.Tests.Workflows.Model;

/// <summary>Makes workflows of random shape. What they do depends on nothing but their shape: where branches run side by side, nothing in
/// them ends the others at a moment that chance decides.</summary>
internal static class ShapeMaker
{
    private static readonly Gen<bool> Flag = Gen.Elements(true, false);

    public static readonly Gen<Shape> Shapes =
        from size in Gen.Choose(2, 20)
        from steps in List(size, new Place())
        from shuffle in Gen.Choose(0, int.MaxValue - 1)
        from crashes in Crash().ArrayOf(4)
        select new Shape(Numbered(steps), shuffle, crashes);

    private static Gen<(int, bool)> Crash() => from share in Gen.Choose(0, 99) from isStored in Flag select (share, isStored);

    /// <summary>Where a step stands.</summary>
    private sealed record Place
    {
        /// <summary>True beside other branches: no failure may leave the branch, and the instance may not end.</summary>
        public bool IsBranch { get; init; }

        /// <summary>True inside of a loop: its messages would have to come more than once.</summary>
        public bool IsLoop { get; init; }

        /// <summary>True where every failure is caught without leaving the branch.</summary>
        public bool IsGuarded { get; init; }

        public bool MayFail => IsGuarded || !IsBranch;
    }

    private static Gen<IReadOnlyList<Node>> List(int size, Place place) =>
        from count in Gen.Choose(1, Math.Clamp(size, 1, 4))
        from nodes in Gen.CollectToArray(Enumerable.Repeat(One(size / count, place), count))
        select (IReadOnlyList<Node>)nodes;

    private static Gen<Node> One(int size, Place place) =>
        size <= 1 ? Leaf(place) : Gen.Frequency([(2, Leaf(place)), .. Composed(size, place)]);

    private static Gen<Node> Leaf(Place place)
    {
        var leaves = new List<(int, Gen<Node>)>
        {
            (6, Gen.Constant<Node>(new PublishNode())),
            (3, Gen.Constant<Node>(new AskNode(Answer.Reply))),
            (1, Flag.Select(Node (waits) => new ChildNode(waits))),
        };
        if (!place.IsLoop)
        {
            leaves.Add((4, Gen.Constant<Node>(new ReceiveNode(Comes: true))));
            leaves.Add((1, Gen.Choose(1, 3).Select(Node (count) => new CollectNode(count))));
        }

        if (place.MayFail)
        {
            leaves.Add((place.IsGuarded ? 2 : 1, Gen.Constant<Node>(new FailNode())));
            leaves.Add((place.IsGuarded ? 2 : 1, Gen.Elements(Answer.Fault, Answer.None).Select(Node (answer) => new AskNode(answer))));
        }

        if (!place.IsBranch)
        {
            leaves.Add((1, Gen.Constant<Node>(new RespondNode())));
            if (!place.IsLoop)
                leaves.Add((1, Gen.Frequency((1, Gen.Constant<Node>(new TerminateNode())), (3, Gen.Constant<Node>(new PublishNode())))));
        }

        return Gen.Frequency(leaves);
    }

    private static IEnumerable<(int, Gen<Node>)> Composed(int size, Place place)
    {
        yield return (
            2,
            from holds in Flag
            from then in List(size / 2, place)
            from otherwise in List(size / 2, place)
            select (Node)new ChooseNode(holds, then, otherwise)
        );
        yield return (4, Guard(size, place));
        if (place.IsLoop)
            yield break;
        yield return (
            2,
            from items in Gen.Choose(0, 3)
            from steps in List(size / 2, place with { IsLoop = true })
            select (Node)new LoopNode(items, steps)
        );
        var branch = new Place { IsBranch = true };
        yield return (
            3,
            from hasEndless in Flag
            from count in Gen.Choose(hasEndless ? 1 : 2, 3)
            from branches in Gen.CollectToArray(Enumerable.Repeat(List(size / count, branch), count))
            select (Node)new ParallelNode(hasEndless, branches)
        );
    }

    private static Gen<Node> Guard(int size, Place place) =>
        from isScope in Flag
        from catchesAll in Flag
        from hasCatch in Flag
        from undoes in Flag
        let catches = hasCatch || !isScope
        from steps in List(size / 2, catches && catchesAll ? place with { IsGuarded = true } : place)
        from handler in List(Math.Min(size / 3, 3), place)
        from undo in Gen.Constant<Node>(new PublishNode()).ArrayOf(2)
        select (Node)new GuardNode(isScope, steps, catchesAll, catches ? handler : null, isScope && undoes ? undo : null);

    private static IReadOnlyList<Node> Numbered(IReadOnlyList<Node> steps)
    {
        var last = 0;
        return All(steps);

        IReadOnlyList<Node> All(IReadOnlyList<Node> list) => [.. list.Select(node => Inside(node with { Number = ++last }))];

        Node Inside(Node node) =>
            node switch
            {
                ChooseNode choose => choose with { Then = All(choose.Then), Otherwise = All(choose.Otherwise) },
                LoopNode loop => loop with { Steps = All(loop.Steps) },
                ParallelNode parallel => parallel with
                {
                    Branches = [.. parallel.Branches.Select(All)],
                    Endless = parallel.Endless with { Number = ++last },
                },
                GuardNode guard => guard with
                {
                    Steps = All(guard.Steps),
                    Catch = guard.Catch is null ? null : All(guard.Catch),
                    Compensate = guard.Compensate is null ? null : All(guard.Compensate),
                },
                _ => node,
            };
    }
}
