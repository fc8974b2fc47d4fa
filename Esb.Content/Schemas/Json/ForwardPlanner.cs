namespace Esb.Content.Schemas.Json;

/// <summary>Joins the schemas that apply to the same value, so that one pass over a document validates all of them. Used by one
/// thread.</summary>
internal sealed class ForwardPlanner
{
    private const int MaxPlans = 10_000; // joined schemas may multiply; what is beyond is read as a tree
    private const int MaxNames = 1_024;
    private const int MaxPatterns = 4; // their combinations are planned

    private readonly Dictionary<string, ForwardPlan> _plans = [];
    private readonly Queue<(ForwardPlan Plan, SchemaNode[] Nodes)> _unfinished = [];

    public ForwardPlan Plan(SchemaNode root)
    {
        var plan = PlanOf([root]);
        while (_unfinished.TryDequeue(out var next))
            Fill(next.Plan, next.Nodes);
        return plan;
    }

    private ForwardPlan PlanOf(IEnumerable<SchemaNode> schemas)
    {
        var roots = schemas.Distinct().OrderBy(node => node.Number).ToArray();
        if (roots.Length == 0)
            return ForwardPlan.Any;
        var nodes = Flatten(roots);
        var key = string.Join(' ', nodes.Select(node => node.Number));
        if (_plans.TryGetValue(key, out var known))
            return known;
        var plan = new ForwardPlan();
        _plans[key] = plan;
        if (_plans.Count > MaxPlans || !nodes.All(CanBeJoined))
            plan.Trees = roots;
        else
            _unfinished.Enqueue((plan, nodes));
        return plan;
    }

    // With all that they refer to for the same value.
    private static SchemaNode[] Flatten(SchemaNode[] roots)
    {
        var (found, waiting) = (new HashSet<SchemaNode>(roots), new Stack<SchemaNode>(roots));
        while (waiting.TryPop(out var node))
        {
            foreach (var next in node.All)
            {
                if (found.Add(next))
                    waiting.Push(next);
            }
        }

        return [.. found.OrderBy(node => node.Number)];
    }

    private static bool CanBeJoined(SchemaNode node) =>
        node.IsForwardOnly && (node.PropertyNames is null || Flatten([node.PropertyNames]).All(name => name.IsForwardOnly));

    private void Fill(ForwardPlan plan, SchemaNode[] nodes)
    {
        var names = nodes.SelectMany(NamesOf).Distinct().ToList();
        var patterns = nodes
            .SelectMany(node => node.PatternProperties)
            .Select(entry => entry.Pattern)
            .DistinctBy(pattern => pattern.Source)
            .ToArray();
        if (names.Count > MaxNames || patterns.Length > MaxPatterns)
        {
            plan.Trees = nodes;
            return;
        }

        FillValue(plan, nodes);
        FillItems(plan, nodes);
        plan.Names = new NameTable(names);
        plan.Members =
        [
            .. names.Select(name => PlanOf(nodes.SelectMany(node => SchemasOf(node, name, source => Matches(patterns, source, name))))),
        ];
        plan.NamePatterns = patterns;
        plan.Others =
        [
            .. Enumerable
                .Range(0, 1 << patterns.Length)
                .Select(bits => PlanOf(nodes.SelectMany(node => SchemasOf(node, name: null, source => HasBit(patterns, source, bits))))),
        ];
        plan.NamePlan = nodes.Any(node => node.PropertyNames is not null)
            ? PlanOf(nodes.Select(node => node.PropertyNames).OfType<SchemaNode>())
            : null;
        plan.Required = BitsOf(names, nodes.SelectMany(node => node.Required));
        plan.DependentRequired =
        [
            .. nodes
                .SelectMany(node => node.DependentRequired)
                .Select(entry => (names.IndexOf(entry.Key), entry.Value.Select(name => names.IndexOf(name)).ToArray())),
        ];
        plan.MinProperties = nodes.Max(node => node.MinProperties);
        plan.MaxProperties = nodes.Min(node => node.MaxProperties);
    }

    private static IEnumerable<string> NamesOf(SchemaNode node) =>
        node.Properties.Keys.Concat(node.Required).Concat(node.DependentRequired.SelectMany(entry => entry.Value.Append(entry.Key)));

    private static IEnumerable<SchemaNode> SchemasOf(SchemaNode node, string? name, Func<string, bool> matches)
    {
        var schemas = node.PatternProperties.Where(entry => matches(entry.Pattern.Source)).Select(entry => entry.Node).ToList();
        if (name is not null && node.Properties.TryGetValue(name, out var own))
            schemas.Add(own);
        if (schemas.Count == 0 && node.AdditionalProperties is not null)
            schemas.Add(node.AdditionalProperties);
        return schemas;
    }

    private static bool Matches(EcmaPattern[] patterns, string source, string name) =>
        patterns.First(pattern => pattern.Source == source).IsMatch(name);

    private static bool HasBit(EcmaPattern[] patterns, string source, int bits) =>
        (bits >> Array.FindIndex(patterns, pattern => pattern.Source == source) & 1) == 1;

    private static ulong[] BitsOf(List<string> names, IEnumerable<string> required)
    {
        var bits = new ulong[(names.Count + 63) / 64];
        foreach (var name in required)
        {
            var index = names.IndexOf(name);
            bits[index / 64] |= 1UL << (index % 64);
        }

        return bits;
    }

    private static void FillValue(ForwardPlan plan, SchemaNode[] nodes)
    {
        plan.Never = nodes.Select(node => node.Never).FirstOrDefault(keyword => keyword is not null);
        plan.Types = nodes.Aggregate(JsonTypes.Any, (types, node) => types & node.Types);
        plan.Allowed = [.. nodes.SelectMany(node => node.Allowed)];
        plan.Bounds = [.. nodes.SelectMany(node => node.Bounds)];
        plan.Divisors = [.. nodes.Select(node => node.MultipleOf).OfType<Divisor>()];
        plan.MinLength = nodes.Max(node => node.MinLength);
        plan.MaxLength = nodes.Min(node => node.MaxLength);
        plan.Patterns = [.. nodes.Select(node => node.Pattern).OfType<EcmaPattern>()];
        plan.Formats = [.. nodes.Select(node => node.Format).OfType<TextFormat>()];
        plan.ReadsTexts = plan.MinLength > 0 || plan.MaxLength < long.MaxValue || plan.Patterns.Length + plan.Formats.Length > 0;
    }

    private void FillItems(ForwardPlan plan, SchemaNode[] nodes)
    {
        var first = nodes.Max(node => node.PrefixItems.Count);
        plan.FirstItems =
        [
            .. Enumerable
                .Range(0, first)
                .Select(index =>
                    PlanOf(nodes.Select(node => index < node.PrefixItems.Count ? node.PrefixItems[index] : node.Items).OfType<SchemaNode>())
                ),
        ];
        plan.Items = PlanOf(nodes.Select(node => node.Items).OfType<SchemaNode>());
        plan.MinItems = nodes.Max(node => node.MinItems);
        plan.MaxItems = nodes.Min(node => node.MaxItems);
    }
}
