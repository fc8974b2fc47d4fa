using System.Globalization;
using System.Text.Json.Nodes;

namespace Esb.Tests.Workflows.Model;

/// <summary>A workflow of random shape as configuration, and the messages that it waits for.</summary>
internal static class ShapeText
{
    /// <summary>Starts the workflow.</summary>
    public const string Start = "orders.accepted";

    /// <summary>The code of a request without a reply.</summary>
    public const string TimeoutCode = "ESB-REQUEST-TIMEOUT";

    public static string SubjectOf(Node node) =>
        node switch
        {
            PublishNode => $"out.n{node.Number}",
            ReceiveNode or CollectNode => $"stock.n{node.Number}",
            AskNode => $"bills.n{node.Number}",
            ChildNode => "out.child",
            _ => throw new ArgumentOutOfRangeException(nameof(node)),
        };

    public static string CodeOf(Node node) => $"SHOP-{node.Number}";

    /// <summary>The section <c>workflows</c>.</summary>
    public static string Of(Shape shape) =>
        new JsonObject
        {
            ["main"] = new JsonObject
            {
                ["start"] = Start,
                ["correlate"] = Keys(),
                ["retry"] = new JsonObject { ["immediate"] = 0, ["delays"] = new JsonArray() },
                ["steps"] = Steps(shape.Steps),
            },
            ["child"] = new JsonObject { ["steps"] = new JsonArray(new JsonObject { ["publish"] = "out.child" }) },
        }.ToJsonString();

    /// <summary>The body of every message: whichever is the current one, conditions and loops find the same.</summary>
    public static string Body(Shape shape)
    {
        var item = Flags();
        var body = Flags();
        foreach (var loop in Descend(shape.Steps).OfType<LoopNode>())
            body[$"i{loop.Number}"] = new JsonArray([.. Enumerable.Range(0, loop.Items).Select(_ => item.DeepClone())]);
        return body.ToJsonString();

        JsonObject Flags()
        {
            var flags = new JsonObject { ["order"] = 1 };
            foreach (var choose in Descend(shape.Steps).OfType<ChooseNode>())
                flags[$"c{choose.Number}"] = choose.Holds;
            return flags;
        }
    }

    /// <summary>The subjects of the messages that come from outside, besides the first.</summary>
    public static IEnumerable<string> Coming(Shape shape) =>
        Descend(shape.Steps)
            .SelectMany(node =>
                node switch
                {
                    ReceiveNode { Comes: true } => [SubjectOf(node)],
                    CollectNode collect => Enumerable.Repeat(SubjectOf(node), collect.Count),
                    _ => [],
                }
            );

    public static IEnumerable<Node> Descend(IReadOnlyList<Node> steps) =>
        steps.SelectMany(node => Descend(Lists(node).SelectMany(list => list).ToList()).Prepend(node));

    private static IEnumerable<IReadOnlyList<Node>> Lists(Node node) =>
        node switch
        {
            ChooseNode choose => [choose.Then, choose.Otherwise],
            LoopNode loop => [loop.Steps],
            ParallelNode parallel => [.. parallel.Branches, [parallel.Endless]],
            GuardNode guard => [guard.Steps, guard.Catch ?? [], guard.Compensate ?? []],
            _ => [],
        };

    private static JsonObject Keys() => new() { ["order"] = new JsonObject { ["jsonpath"] = "$.order" } };

    private static JsonArray Steps(IReadOnlyList<Node> steps) => [.. steps.Select(Step)];

    private static JsonNode Step(Node node)
    {
        JsonNode settings = node switch
        {
            PublishNode => JsonValue.Create(SubjectOf(node)),
            ReceiveNode => new JsonObject { ["subscribe"] = SubjectOf(node), ["match"] = Keys() },
            CollectNode collect => new JsonObject
            {
                ["subscribe"] = SubjectOf(node),
                ["match"] = Keys(),
                ["until"] = new JsonObject { ["count"] = collect.Count },
            },
            AskNode ask => new JsonObject { ["subject"] = SubjectOf(node), ["timeout"] = ask.Answer == Answer.None ? "20ms" : "1h" },
            ChooseNode choose => new JsonObject
            {
                ["when"] = new JsonArray(
                    new JsonObject
                    {
                        ["if"] = new JsonObject { ["jsonpath"] = $"$.c{node.Number}", ["equals"] = true },
                        ["steps"] = Steps(choose.Then),
                    }
                ),
                ["otherwise"] = Steps(choose.Otherwise),
            },
            LoopNode loop => new JsonObject
            {
                ["items"] = new JsonObject { ["jsonpath"] = $"$.i{node.Number}[*]" },
                ["steps"] = Steps(loop.Steps),
            },
            ParallelNode parallel => Parallel(parallel),
            GuardNode guard => Guard(guard),
            FailNode => new JsonObject { ["reason"] = "as it shall", ["code"] = CodeOf(node) },
            ChildNode => JsonValue.Create("child"),
            RespondNode => new JsonObject { ["template"] = $"r{node.Number}" },
            TerminateNode => JsonValue.Create("enough"),
            _ => throw new ArgumentOutOfRangeException(nameof(node)),
        };
        return new JsonObject { ["id"] = $"n{node.Number}", [KindOf(node)] = settings };
    }

    private static string KindOf(Node node) =>
        node switch
        {
            AskNode => "request",
            LoopNode => "forEach",
            GuardNode guard => guard.IsScope ? "scope" : "try",
            ChildNode child => child.Waits ? "runWorkflow" : "startWorkflow",
            _ => node.GetType().Name[..^"Node".Length].ToLowerInvariant(),
        };

    private static JsonObject Parallel(ParallelNode parallel)
    {
        var branches = new JsonObject();
        if (parallel.HasEndless)
            branches["endless"] = Steps([parallel.Endless]);
        foreach (var (index, branch) in parallel.Branches.Index())
            branches[string.Create(CultureInfo.InvariantCulture, $"b{index}")] = Steps(branch);
        return new JsonObject { ["branches"] = branches, ["join"] = parallel.HasEndless ? parallel.Branches.Count : "all" };
    }

    private static JsonObject Guard(GuardNode guard)
    {
        var settings = new JsonObject { ["steps"] = Steps(guard.Steps) };
        if (guard.Catch is { } handler)
        {
            var branch = new JsonObject { ["steps"] = Steps(handler) };
            if (!guard.CatchesAll)
                branch["codes"] = new JsonArray(TimeoutCode);
            settings["catch"] = new JsonArray(branch);
        }

        if (guard.Compensate is { } undo)
            settings["compensate"] = Steps(undo);
        return settings;
    }
}
