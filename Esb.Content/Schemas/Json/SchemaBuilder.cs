using System.Globalization;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>Compiles schemas that their meta-schema has accepted. Used by one thread.</summary>
/// <param name="documents">What schemas may refer to.</param>
/// <param name="assertsFormats">Whether <c>format</c> is checked.</param>
internal sealed class SchemaBuilder(SchemaDocuments documents, bool assertsFormats)
{
    private const int MaxNodes = 100_000; // a schema that is compiled for ever more dynamic scopes ends here

    private readonly Dictionary<(int Site, string Scope), SchemaNode> _nodes = [];
    private readonly Dictionary<SchemaNode, SchemaSite> _sites = [];
    private readonly Queue<(SchemaNode Node, SchemaSite Site, DynamicScope Scope)> _unfinished = [];
    private readonly List<SchemaFault> _faults = [];

    /// <summary>What is wrong with the schemas that have been built.</summary>
    public IReadOnlyList<SchemaFault> Faults => _faults;

    /// <summary>The files of the schemas that have been built.</summary>
    public IEnumerable<string> Paths => _sites.Values.Select(site => site.Resource.Document.Path).OfType<string>().Distinct();

    /// <summary>The compiled schema; of no use if there are <see cref="Faults"/>.</summary>
    public SchemaNode Build(SchemaSite root)
    {
        var node = NodeOf(root, DynamicScope.Empty);
        while (_unfinished.TryDequeue(out var next))
        {
            Try(() => Fill(next.Node, next.Site, next.Scope));
            if (_nodes.Count > MaxNodes)
                Try(() =>
                    throw new SchemaException(
                        SchemaFault.Compile,
                        root.Resource.Document,
                        "",
                        $"it is compiled to more than {MaxNodes} parts"
                    )
                );
            if (_nodes.Count > MaxNodes)
                break;
        }

        if (_faults.Count == 0 && SchemaLoop.Find(node) is { } loop)
        {
            var site = _sites[loop];
            _faults.Add(
                new SchemaFault(SchemaFault.Loop, site.Resource.Document, site.Pointer, "refers to itself for the same value, without end")
            );
        }

        return node;
    }

    private void Try(Action work)
    {
        try
        {
            work();
        }
        catch (SchemaException ex)
        {
            _faults.AddRange(ex.Faults.Except(_faults));
        }
    }

    private SchemaNode NodeOf(SchemaSite site, DynamicScope outer)
    {
        var scope = outer.Enter(site.Resource);
        if (_nodes.TryGetValue((site.Number, scope.Key), out var known))
            return known;
        var node = new SchemaNode(_nodes.Count);
        _nodes[(site.Number, scope.Key)] = node;
        _sites[node] = site;
        _unfinished.Enqueue((node, site, scope));
        return node;
    }

    private void Fill(SchemaNode node, SchemaSite site, DynamicScope scope)
    {
        if (site.Element.ValueKind == JsonValueKind.False)
            node.Never = KeywordOf(site.Pointer);
        if (site.Element.ValueKind != JsonValueKind.Object)
            return;
        var dialect = documents.DialectOf(site.Resource);
        foreach (var member in site.Element.EnumerateObject())
        {
            if (dialect.Has(member.Name))
                Try(() => Fill(node, member, new Place(site, scope)));
        }
    }

    private void Fill(SchemaNode node, JsonProperty member, Place place)
    {
        var (keyword, value) = (member.Name, member.Value);
        if (
            !FillReference(node, keyword, value, place)
            && !FillObject(node, keyword, value, place)
            && !FillArray(node, keyword, value, place)
        )
            FillValue(node, keyword, value, place.Site);
    }

    private bool FillReference(SchemaNode node, string keyword, JsonElement value, Place place)
    {
        switch (keyword)
        {
            case "$ref":
                node.All.Add(NodeOf(documents.Resolve(place.Site, keyword, value.GetString()!), place.Scope));
                return true;
            case "$dynamicRef":
                node.All.Add(NodeOf(ResolveDynamic(place, value.GetString()!), place.Scope));
                return true;
            case "allOf":
                node.All.AddRange(List(keyword, value, place));
                return true;
            case "anyOf":
                node.AnyOf.AddRange(List(keyword, value, place));
                return true;
            case "oneOf":
                node.OneOf.AddRange(List(keyword, value, place));
                return true;
            case "not":
                node.Not = Child(keyword, place);
                return true;
            case "if":
                node.If = Child(keyword, place);
                return true;
            case "then" or "else" when place.Site.Element.TryGetProperty("if", out _):
                if (keyword == "then")
                    node.Then = Child(keyword, place);
                else
                    node.Else = Child(keyword, place);
                return true;
            case "dependentSchemas":
                foreach (var (name, child) in Map(keyword, value, place))
                    node.DependentSchemas[name] = child;
                return true;
            default:
                return false;
        }
    }

    // Where the reference leads by itself decides whether it is dynamic at all (2020-12 core, section 8.2.3.2).
    private SchemaSite ResolveDynamic(Place place, string reference)
    {
        var target = documents.Resolve(place.Site, "$dynamicRef", reference);
        var anchor = SchemaDocuments.FragmentOf(reference);
        return target.Resource.DynamicAnchors.GetValueOrDefault(anchor) == target ? place.Scope.Find(anchor) ?? target : target;
    }

    private bool FillObject(SchemaNode node, string keyword, JsonElement value, Place place)
    {
        switch (keyword)
        {
            case "properties":
                foreach (var (name, child) in Map(keyword, value, place))
                    node.Properties[name] = child;
                return true;
            case "patternProperties":
                foreach (var (name, child) in Map(keyword, value, place))
                    node.PatternProperties.Add((PatternOf(name, place.Site, place.Site.PointerTo(keyword, name)), child));
                return true;
            case "additionalProperties":
                node.AdditionalProperties = Child(keyword, place);
                return true;
            case "propertyNames":
                node.PropertyNames = Child(keyword, place);
                return true;
            case "unevaluatedProperties":
                node.UnevaluatedProperties = Child(keyword, place);
                return true;
            case "required":
                node.Required.AddRange(Texts(value));
                return true;
            case "dependentRequired":
                foreach (var entry in value.EnumerateObject())
                    node.DependentRequired[entry.Name] = [.. Texts(entry.Value)];
                return true;
            case "minProperties":
                node.MinProperties = CountOf(value);
                return true;
            case "maxProperties":
                node.MaxProperties = CountOf(value);
                return true;
            default:
                return false;
        }
    }

    private bool FillArray(SchemaNode node, string keyword, JsonElement value, Place place)
    {
        switch (keyword)
        {
            case "prefixItems":
                node.PrefixItems.AddRange(List(keyword, value, place));
                return true;
            case "items":
                node.Items = Child(keyword, place);
                return true;
            case "contains":
                node.Contains = Child(keyword, place);
                return true;
            case "unevaluatedItems":
                node.UnevaluatedItems = Child(keyword, place);
                return true;
            case "minContains":
                node.MinContains = CountOf(value);
                return true;
            case "maxContains":
                node.MaxContains = CountOf(value);
                return true;
            case "minItems":
                node.MinItems = CountOf(value);
                return true;
            case "maxItems":
                node.MaxItems = CountOf(value);
                return true;
            case "uniqueItems":
                node.UniqueItems = value.ValueKind == JsonValueKind.True;
                return true;
            default:
                return false;
        }
    }

    private void FillValue(SchemaNode node, string keyword, JsonElement value, SchemaSite site)
    {
        switch (keyword)
        {
            case "type":
                node.Types =
                    value.ValueKind == JsonValueKind.String
                        ? TypeOf(value)
                        : value.EnumerateArray().Aggregate((JsonTypes)0, (types, type) => types | TypeOf(type));
                break;
            case "enum":
                node.Allowed.Add(new AllowedValues(keyword, [.. value.EnumerateArray()]));
                break;
            case "const":
                node.Allowed.Add(new AllowedValues(keyword, [value]));
                break;
            case "minimum" or "exclusiveMinimum" or "maximum" or "exclusiveMaximum":
                node.Bounds.Add(new NumberBound(keyword, value.GetRawText()));
                break;
            case "multipleOf":
                node.MultipleOf = new Divisor(value.GetRawText());
                break;
            case "minLength":
                node.MinLength = CountOf(value);
                break;
            case "maxLength":
                node.MaxLength = CountOf(value);
                break;
            case "pattern":
                node.Pattern = PatternOf(value.GetString()!, site, site.PointerTo(keyword));
                break;
            case "format":
                if (assertsFormats || documents.DialectOf(site.Resource).AssertsFormat)
                    node.Format = TextFormat.Find(value.GetString()!);
                break;
        }
    }

    private SchemaNode Child(string keyword, Place place) => NodeOf(documents.At(place.Site, place.Site.PointerTo(keyword)), place.Scope);

    private IEnumerable<SchemaNode> List(string keyword, JsonElement list, Place place) =>
        Enumerable
            .Range(0, list.GetArrayLength())
            .Select(index =>
                NodeOf(documents.At(place.Site, place.Site.PointerTo(keyword, index.ToString(CultureInfo.InvariantCulture))), place.Scope)
            );

    private IEnumerable<(string Name, SchemaNode Node)> Map(string keyword, JsonElement map, Place place) =>
        map.EnumerateObject()
            .Select(entry => (entry.Name, NodeOf(documents.At(place.Site, place.Site.PointerTo(keyword, entry.Name)), place.Scope)));

    private static IEnumerable<string> Texts(JsonElement list) => list.EnumerateArray().Select(item => item.GetString()!);

    private static EcmaPattern PatternOf(string source, SchemaSite site, string pointer)
    {
        try
        {
            return EcmaPattern.Parse(source);
        }
        catch (EcmaPatternException ex)
        {
            throw new SchemaException(SchemaFault.Pattern, site.Resource.Document, pointer, $"the pattern cannot be used: {ex.Message}");
        }
    }

    // A whole number, perhaps as 2.0 or beyond what can be counted.
    private static long CountOf(JsonElement value) =>
        value.TryGetInt64(out var count) ? count : (long)Math.Min(value.GetDouble(), long.MaxValue / 2);

    private static JsonTypes TypeOf(JsonElement type) => Enum.Parse<JsonTypes>(type.GetString()!, ignoreCase: true);

    // The keyword that has the schema at a pointer: /properties/a → properties, /items → items.
    private static string KeywordOf(string pointer)
    {
        var parts = pointer.Split('/');
        var isNamed =
            parts.Length > 2
            && parts[^2]
                is "properties"
                    or "patternProperties"
                    or "$defs"
                    or "definitions"
                    or "dependentSchemas"
                    or "allOf"
                    or "anyOf"
                    or "oneOf"
                    or "prefixItems";
        return parts.Length == 1 ? "false"
            : isNamed ? parts[^2]
            : parts[^1];
    }

    private sealed record Place(SchemaSite Site, DynamicScope Scope);
}
