using System.Globalization;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>The documents that schemas may refer to, and what stands in them. Used by one thread, while schemas are compiled.</summary>
/// <param name="load">Reads and checks a file that a schema refers to; null for one that it may not refer to.</param>
internal sealed class SchemaDocuments(Func<Uri, SchemaDocument?> load)
{
    private static readonly HashSet<string> Single =
    [
        "additionalProperties",
        "items",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
    ];

    private static readonly HashSet<string> Named = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
    private static readonly HashSet<string> Listed = ["allOf", "anyOf", "oneOf", "prefixItems"];

    private readonly Dictionary<string, SchemaSite> _resources = []; // by URI
    private readonly Dictionary<SchemaResource, Dialect> _dialects = [];
    private int _sites;

    /// <exception cref="SchemaException">Another document has one of its URIs.</exception>
    public SchemaSite Add(SchemaDocument document)
    {
        var outside = new SchemaResource(document.Uri, document, "", MetaSchema: null);
        var root = Scan(document.Root, "", outside, isRoot: true);
        _resources.TryAdd(KeyOf(document.Uri), root); // it may be addressed by its file, whatever its $id is
        return root;
    }

    /// <summary>The schema with this URI; null if unknown.</summary>
    public SchemaSite? Find(Uri uri) => _resources.GetValueOrDefault(KeyOf(uri));

    /// <summary>The schema at a place that is known to have one.</summary>
    public SchemaSite At(SchemaSite parent, string pointer) => parent.Resource.Document.Sites[pointer];

    /// <summary>The keywords that count in a resource.</summary>
    /// <exception cref="SchemaException">It is of another draft, or of vocabularies that are not known.</exception>
    public Dialect DialectOf(SchemaResource resource)
    {
        if (_dialects.TryGetValue(resource, out var known))
            return known;
        return _dialects[resource] = MetaSchemaOf(resource) is { } site ? Dialect.Of(site) : Dialect.Default;
    }

    /// <summary>The meta-schema of the configuration that a resource names; null for that of 2020-12.</summary>
    /// <exception cref="SchemaException">There is no such meta-schema.</exception>
    public SchemaSite? MetaSchemaOf(SchemaResource resource)
    {
        if (resource.MetaSchema is not { } name || name.TrimEnd('#') == MetaSchemas.Root)
            return null;
        return Uri.TryCreate(name, UriKind.Absolute, out var uri) && Find(uri) is { } site
            ? site
            : throw new SchemaException(
                SchemaFault.Compile,
                resource.Document,
                $"{resource.Pointer}/$schema",
                $"\"{name}\" is not supported; \"{MetaSchemas.Root}\" is"
            );
    }

    /// <summary>The schema to which a reference leads.</summary>
    /// <param name="from">The schema that has the reference.</param>
    /// <param name="keyword"><c>$ref</c> or <c>$dynamicRef</c>.</param>
    /// <param name="reference">As it is written.</param>
    /// <exception cref="SchemaException">It leads nowhere, or where it may not.</exception>
    public SchemaSite Resolve(SchemaSite from, string keyword, string reference)
    {
        var (address, fragment) = Split(reference);
        var root = address.Length == 0 ? RootOf(from.Resource) : FindOrLoad(from, address);
        if (root is null)
            throw Fault(
                $"\"{reference}\" is not part of the configuration; only its schemas, by $id, and files in their folders can be referred to"
            );
        if (fragment.Length == 0)
            return root;
        var found = fragment[0] == '/' ? AtPointer(root, fragment) : root.Resource.Anchors.GetValueOrDefault(fragment);
        return found ?? throw Fault($"there is nothing at \"{reference}\"");

        SchemaException Fault(string problem) => new(SchemaFault.Reference, from.Resource.Document, from.PointerTo(keyword), problem);
    }

    /// <summary>The name at the end of a reference, without the address.</summary>
    public static string FragmentOf(string reference) => Split(reference).Fragment;

    private static (string Address, string Fragment) Split(string reference)
    {
        var at = reference.IndexOf('#');
        return at < 0 ? (reference, "") : (reference[..at], Uri.UnescapeDataString(reference[(at + 1)..]));
    }

    private static SchemaSite RootOf(SchemaResource resource) => resource.Document.Sites[resource.Pointer];

    private SchemaSite? FindOrLoad(SchemaSite from, string address)
    {
        if (Combine(from.Resource.Base, address) is { } uri && (Find(uri) ?? Load(uri)) is { } found)
            return found;
        // A file beside this one, although its $id says that it comes from elsewhere.
        return !HasScheme(address) && from.Resource.Document.Path is not null && Combine(from.Resource.Document.Uri, address) is { } file
            ? Find(file) ?? Load(file)
            : null;
    }

    private SchemaSite? Load(Uri uri)
    {
        if (!uri.IsFile || load(uri) is not { } document)
            return null;
        return Add(document);
    }

    private SchemaSite? AtPointer(SchemaSite root, string pointer)
    {
        var (document, place) = (root.Resource.Document, root.Pointer + pointer);
        if (document.Sites.TryGetValue(place, out var site))
            return site;
        var value = JsonPointer.Find(document.Root, place);
        if (value is not { ValueKind: JsonValueKind.Object or JsonValueKind.True or JsonValueKind.False } found)
            return null;
        if (SchemaCheck.Of(document, found, place) is [var fault, ..])
            throw new SchemaException(fault);
        var parent = place; // a schema below a keyword that is not known
        while (!document.Sites.ContainsKey(parent))
            parent = parent[..parent.LastIndexOf('/')];
        return Scan(found, place, document.Sites[parent].Resource, isRoot: false);
    }

    private SchemaSite Scan(JsonElement element, string pointer, SchemaResource around, bool isRoot)
    {
        var resource = ResourceOf(element, pointer, around, isRoot);
        var site = new SchemaSite(resource, pointer, element, _sites++);
        resource.Document.Sites[pointer] = site;
        if (resource.Pointer == pointer && !_resources.TryAdd(KeyOf(resource.Base), site))
            throw new SchemaException(
                SchemaFault.Compile,
                resource.Document,
                $"{pointer}/$id",
                $"another schema has the URI {resource.Base} too"
            );
        if (element.ValueKind != JsonValueKind.Object)
            return site;
        if (TextOf(element, "$anchor") is { } anchor)
            resource.Anchors[anchor] = site;
        if (TextOf(element, "$dynamicAnchor") is { } dynamicAnchor)
            resource.Anchors[dynamicAnchor] = resource.DynamicAnchors[dynamicAnchor] = site;
        foreach (var member in element.EnumerateObject())
            ScanBelow(member, $"{pointer}/{JsonPointer.Escape(member.Name)}", resource);
        return site;
    }

    private void ScanBelow(JsonProperty member, string pointer, SchemaResource resource)
    {
        if (Single.Contains(member.Name))
        {
            Scan(member.Value, pointer, resource, isRoot: false);
        }
        else if (Named.Contains(member.Name) && member.Value.ValueKind == JsonValueKind.Object)
        {
            foreach (var entry in member.Value.EnumerateObject())
                Scan(entry.Value, $"{pointer}/{JsonPointer.Escape(entry.Name)}", resource, isRoot: false);
        }
        else if (Listed.Contains(member.Name) && member.Value.ValueKind == JsonValueKind.Array)
        {
            var index = 0;
            foreach (var item in member.Value.EnumerateArray())
                Scan(item, string.Create(CultureInfo.InvariantCulture, $"{pointer}/{index++}"), resource, isRoot: false);
        }
    }

    private static SchemaResource ResourceOf(JsonElement element, string pointer, SchemaResource around, bool isRoot)
    {
        var id = TextOf(element, "$id");
        if (id is null && !isRoot)
            return around;
        var uri = id is null
            ? around.Base
            : Combine(around.Base, id.Split('#')[0])
                ?? throw new SchemaException(SchemaFault.Compile, around.Document, $"{pointer}/$id", $"\"{id}\" is no URI");
        return new SchemaResource(uri, around.Document, pointer, TextOf(element, "$schema") ?? around.MetaSchema);
    }

    private static string? TextOf(JsonElement element, string name) =>
        element.ValueKind == JsonValueKind.Object && element.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String
            ? value.GetString()
            : null;

    private static Uri? Combine(Uri address, string reference)
    {
        if (HasScheme(reference))
            return Uri.TryCreate(reference, UriKind.Absolute, out var absolute) ? absolute : null;
        return Uri.TryCreate(address, reference, out var uri) ? uri : null;
    }

    // By its scheme: to the framework a path such as "/orders" is an absolute URI.
    private static bool HasScheme(string reference)
    {
        var end = reference.AsSpan().IndexOfAnyExceptInRange('-', 'z');
        var colon = reference.IndexOf(':');
        return colon > 0 && char.IsAsciiLetter(reference[0]) && (end < 0 || end > colon) && !reference.AsSpan(0, colon).ContainsAny("/?#");
    }

    private static string KeyOf(Uri uri) => uri.GetComponents(UriComponents.AbsoluteUri & ~UriComponents.Fragment, UriFormat.UriEscaped);
}
