using System.Text.Json.Nodes;

namespace Esb.Configuration.Settings;

/// <summary>Writes the JSON Schema (draft 2020-12) of all valid configurations.</summary>
public sealed class SchemaWriter
{
    private const string ReferencePattern = @"\$\{(env|file):";

    private readonly JsonObject _definitions = [];
    private readonly Dictionary<Type, string> _names = [];
    private readonly EsbConfiguration? _configuration;

    private SchemaWriter(SettingsCatalog catalog, EsbConfiguration? configuration)
    {
        Catalog = catalog;
        _configuration = configuration;
    }

    internal SettingsCatalog Catalog { get; }

    /// <summary>Returns the schema of a whole configuration file.</summary>
    /// <param name="catalog">Every setting.</param>
    /// <param name="configuration">The configuration whose names are accepted where one of them is expected; null for any name.</param>
    public static JsonObject Write(SettingsCatalog catalog, EsbConfiguration? configuration = null)
    {
        var writer = new SchemaWriter(catalog, configuration);
        var schema = new RootType(catalog).Describe(writer);
        schema.Insert(0, "$schema", "https://json-schema.org/draft/2020-12/schema");
        schema.Insert(1, "title", "Configuration of the ESB");
        schema["$defs"] = writer._definitions;
        return schema;
    }

    /// <summary>Returns a reference to the schema of a record, which is described once, at its first use.</summary>
    internal JsonObject Define(Type type, Func<JsonObject> describe)
    {
        if (!_names.TryGetValue(type, out var name))
        {
            name = _definitions.ContainsKey(type.Name) ? type.FullName! : type.Name;
            _names[type] = name; // set before it is described: records may contain themselves
            _definitions[name] = new JsonObject();
            _definitions[name] = describe();
        }

        return new JsonObject { ["$ref"] = $"#/$defs/{name}" };
    }

    /// <summary>The names of the things of a section; null if no configuration is known.</summary>
    internal IReadOnlyList<string>? NamesOf(string section) => _configuration is null ? null : [.. _configuration.NamesOf(section)];

    /// <summary>Returns the schema with a description placed before its own members.</summary>
    internal static JsonObject Annotate(JsonObject schema, string description)
    {
        schema["description"] = schema["description"] is { } own ? $"{description} {own.GetValue<string>()}" : description;
        return schema;
    }

    /// <summary>Returns the schema of a value that may be replaced by a reference.</summary>
    internal static JsonObject OrReference(JsonObject value) =>
        new() { ["anyOf"] = new JsonArray(value, new JsonObject { ["type"] = "string", ["pattern"] = ReferencePattern }) };

    /// <summary>Returns the schema of a value in one of several forms, the usual one first.</summary>
    internal static JsonObject AnyOf(JsonObject usual, JsonObject other) => new() { ["anyOf"] = new JsonArray(usual, other) };

    /// <summary>Returns the schema of a text of a certain form, or a reference; its range can only be described in words.</summary>
    internal static JsonObject TextLike(string pattern, string? range)
    {
        var schema = new JsonObject { ["type"] = "string", ["pattern"] = $"{pattern}|{ReferencePattern}" };
        return range is null ? schema : Annotate(schema, $"From {range.Replace("..", " to ", StringComparison.Ordinal)}.");
    }

    /// <summary>Returns the schema that requires exactly one, or at most one, of these properties.</summary>
    internal static JsonObject Choose(IEnumerable<string> names, bool isRequired)
    {
        var one = names.Select(name => new JsonObject { ["required"] = new JsonArray(name) }).ToList();
        if (!isRequired)
            one.Add(
                new JsonObject { ["not"] = new JsonObject { ["anyOf"] = new JsonArray([.. one.Select(required => required.DeepClone())]) } }
            );
        return new JsonObject { ["oneOf"] = new JsonArray([.. one]) };
    }
}
