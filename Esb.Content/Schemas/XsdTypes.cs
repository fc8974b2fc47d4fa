using System.Collections.Concurrent;
using System.Xml.Schema;
using Esb.Content.Formats.Conversion;
using Esb.Content.Schemas.Json;

namespace Esb.Content.Schemas;

/// <summary>The types that an XML Schema gives to the values of its documents as JSON: elements, attributes (<c>@name</c>) and texts
/// (<c>#text</c>). An element that may occur more than once in its parent is an array. Thread-safe.</summary>
/// <remarks>Members are found by their local names: a prefix is what the configuration calls a namespace. Places are made when a document
/// first reaches them, once for each element of the schema.</remarks>
internal sealed class XsdTypes : ValueTypes
{
    private readonly Lazy<Dictionary<string, ValueTypes>> _members;

    private XsdTypes(JsonTypes types, Func<Dictionary<string, ValueTypes>> members) => (Types, _members) = (types, new(members));

    internal override JsonTypes Types { get; }

    internal override ValueTypes? Item => null;

    public static XsdTypes Of(XmlSchemaSet schemas)
    {
        var places = new Places(schemas);
        return new XsdTypes(JsonTypes.Object, () => Named(places.Roots.Select(root => (root, false)), places));
    }

    internal override ValueTypes? Member(string name)
    {
        var prefix = name.StartsWith('@') ? "@" : "";
        return _members.Value.GetValueOrDefault(prefix + name[(Math.Max(name.IndexOf(':'), prefix.Length - 1) + 1)..]);
    }

    private static XsdTypes Of(XmlSchemaElement element, Places places)
    {
        var nothing = element.IsNillable ? JsonTypes.Null : 0;
        return element.ElementSchemaType switch
        {
            XmlSchemaComplexType { AttributeUses.Count: 0, ContentType: XmlSchemaContentType.TextOnly } text => Text(text, nothing),
            XmlSchemaComplexType any when any == XmlSchemaType.GetBuiltInComplexType(XmlTypeCode.Item) => Text(null, nothing),
            XmlSchemaComplexType complex => new XsdTypes(JsonTypes.Object | nothing, () => MembersOf(complex, places)),
            { } simple => Text(simple, nothing),
            null => Text(null, nothing),
        };
    }

    private static XsdTypes Text(XmlSchemaType? type, JsonTypes nothing = 0) => new(TypesOf(type) | nothing, () => []);

    private static Dictionary<string, ValueTypes> MembersOf(XmlSchemaComplexType type, Places places)
    {
        var members = Named(ElementsOf(type.ContentTypeParticle, isRepeated: false, places), places);
        foreach (var attribute in type.AttributeUses.Values.Cast<XmlSchemaAttribute>())
            members.TryAdd($"@{attribute.QualifiedName.Name}", Text(attribute.AttributeSchemaType));
        members[TypedText.Member] = Text(type.ContentType == XmlSchemaContentType.TextOnly ? type : null);
        return members;
    }

    private static Dictionary<string, ValueTypes> Named(IEnumerable<(XmlSchemaElement Element, bool IsRepeated)> elements, Places places)
    {
        var named = new Dictionary<string, ValueTypes>();
        foreach (var group in elements.GroupBy(one => one.Element.QualifiedName.Name))
        {
            var item = places.Of(group.First().Element);
            named[group.Key] = group.Any(one => one.IsRepeated) ? new XsdArray(item) : item;
        }

        return named;
    }

    // In the order of the schema; one that stands there twice, not as an alternative, may occur twice.
    private static IEnumerable<(XmlSchemaElement Element, bool IsRepeated)> ElementsOf(
        XmlSchemaParticle? particle,
        bool isRepeated,
        Places places
    )
    {
        var isMany = isRepeated || particle?.MaxOccurs > 1;
        switch (particle)
        {
            case XmlSchemaElement element:
                foreach (var one in places.SubstitutesOf(element))
                    yield return (one, isMany);
                break;
            case XmlSchemaGroupBase group:
                var found = group.Items.OfType<XmlSchemaParticle>().SelectMany(item => ElementsOf(item, isMany, places)).ToList();
                var twice =
                    group is XmlSchemaChoice
                        ? []
                        : found
                            .CountBy(one => one.Element.QualifiedName)
                            .Where(count => count.Value > 1)
                            .Select(count => count.Key)
                            .ToHashSet();
                foreach (var (element, isAlready) in found)
                    yield return (element, isAlready || twice.Contains(element.QualifiedName));
                break;
        }
    }

    private static JsonTypes TypesOf(XmlSchemaType? type) =>
        type?.Datatype?.Variety is XmlSchemaDatatypeVariety.Atomic
            ? type.TypeCode switch
            {
                XmlTypeCode.Boolean => JsonTypes.Boolean,
                XmlTypeCode.Decimal or XmlTypeCode.Float or XmlTypeCode.Double => JsonTypes.Number,
                >= XmlTypeCode.Integer and <= XmlTypeCode.PositiveInteger => JsonTypes.Integer,
                _ => JsonTypes.String,
            }
            : JsonTypes.String;

    /// <summary>An element that may occur more than once.</summary>
    private sealed class XsdArray(ValueTypes item) : ValueTypes
    {
        internal override JsonTypes Types => JsonTypes.Array;

        internal override ValueTypes Item => item;

        internal override ValueTypes? Member(string name) => null;
    }

    /// <summary>The elements of a schema, each with its types.</summary>
    private sealed class Places(XmlSchemaSet schemas)
    {
        private readonly ConcurrentDictionary<XmlSchemaElement, XsdTypes> _types = new();

        public IReadOnlyList<XmlSchemaElement> Roots { get; } = [.. schemas.GlobalElements.Values.Cast<XmlSchemaElement>()];

        public XsdTypes Of(XmlSchemaElement element) => _types.GetOrAdd(element, static (one, places) => XsdTypes.Of(one, places), this);

        /// <summary>The element, and those that may stand in its place.</summary>
        public IEnumerable<XmlSchemaElement> SubstitutesOf(XmlSchemaElement element) =>
            Roots
                .Where(root => !root.SubstitutionGroup.IsEmpty && root.SubstitutionGroup == element.QualifiedName)
                .SelectMany(SubstitutesOf)
                .Prepend(element);
    }
}
