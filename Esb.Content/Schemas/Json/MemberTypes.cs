using System.Collections.Concurrent;

namespace Esb.Content.Schemas.Json;

/// <summary>The types that a JSON Schema gives to a value, and to its members and items. Thread-safe.</summary>
/// <remarks>Each schema that may apply to the value counts, also in alternatives and conditions: a value has every type that one of
/// them names. Places are made when a document first reaches them, once for each set of schemas.</remarks>
internal sealed class MemberTypes : ValueTypes
{
    private readonly HashSet<SchemaNode> _schemas;
    private readonly ConcurrentDictionary<string, MemberTypes> _places;
    private readonly ConcurrentDictionary<string, MemberTypes> _members = new();
    private readonly HashSet<string> _declared;
    private readonly Lazy<MemberTypes?> _item;

    private MemberTypes(HashSet<SchemaNode> schemas, ConcurrentDictionary<string, MemberTypes> places)
    {
        (_schemas, _places) = (schemas, places);
        _declared = [.. schemas.SelectMany(schema => schema.Properties.Keys)];
        _item = new Lazy<MemberTypes?>(() => Find(schemas.SelectMany(ItemsOf)));
        Types = schemas.Aggregate((JsonTypes)0, (types, schema) => types | Named(schema)) is var named and not 0 ? named : JsonTypes.Any;
    }

    internal override JsonTypes Types { get; }

    internal override ValueTypes? Item => _item.Value;

    public static MemberTypes Of(SchemaNode root)
    {
        var places = new ConcurrentDictionary<string, MemberTypes>();
        return new MemberTypes([], places).Find([root]) ?? new MemberTypes([], places);
    }

    internal override ValueTypes? Member(string name)
    {
        if (_members.TryGetValue(name, out var known))
            return known;
        var member = Find(_schemas.SelectMany(schema => MembersOf(schema, name)));
        if (member is not null && _declared.Contains(name)) // other names come from documents, without end
            _members[name] = member;
        return member;
    }

    private static IEnumerable<SchemaNode> MembersOf(SchemaNode schema, string name)
    {
        var isCovered = schema.Properties.TryGetValue(name, out var declared);
        if (isCovered)
            yield return declared!;
        foreach (var (pattern, node) in schema.PatternProperties)
        {
            if (!pattern.IsMatch(name))
                continue;
            isCovered = true;
            yield return node;
        }

        if (!isCovered && (schema.AdditionalProperties ?? schema.UnevaluatedProperties) is { } other)
            yield return other;
    }

    private static IEnumerable<SchemaNode> ItemsOf(SchemaNode schema) =>
        schema.PrefixItems.Concat(new[] { schema.Items, schema.UnevaluatedItems }.OfType<SchemaNode>());

    // A schema that only bounds a value names no type.
    private static JsonTypes Named(SchemaNode schema) =>
        schema.Types != JsonTypes.Any ? schema.Types : schema.Allowed.Aggregate((JsonTypes)0, (types, values) => types | values.Types);

    private MemberTypes? Find(IEnumerable<SchemaNode> schemas)
    {
        var applying = new HashSet<SchemaNode>();
        foreach (var schema in schemas)
            Add(schema, applying);
        return applying.Count == 0
            ? null
            : _places.GetOrAdd(
                string.Join(' ', applying.Select(schema => schema.Number).Order()),
                static (_, made) => new MemberTypes(made.Applying, made.Places),
                (Applying: applying, Places: _places)
            );
    }

    private static void Add(SchemaNode schema, HashSet<SchemaNode> applying)
    {
        if (schema.Never is not null || !applying.Add(schema))
            return;
        foreach (var other in new[] { schema.Then, schema.Else }.OfType<SchemaNode>().Concat(schema.All).Concat(schema.AnyOf))
            Add(other, applying);
        foreach (var other in schema.OneOf.Concat(schema.DependentSchemas.Values))
            Add(other, applying);
    }
}
