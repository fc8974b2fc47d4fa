using System.Text.Json.Nodes;

namespace Esb.Core.Configuration.Settings;

/// <summary>Writes the JSON Schema (draft 2020-12) of everything that a configuration may say.</summary>
public sealed class SchemaWriter
{
    private readonly JsonObject _definitions = [];

    private SchemaWriter(SettingsCatalog catalog) => Catalog = catalog;

    internal SettingsCatalog Catalog { get; }

    /// <summary>The schema of a whole configuration file.</summary>
    public static JsonObject Write(SettingsCatalog catalog)
    {
        var writer = new SchemaWriter(catalog);
        var properties = new JsonObject { ["$schema"] = new JsonObject { ["type"] = "string" } };
        foreach (var section in catalog.Sections.Where(section => section.Settings is not null))
            properties[section.Name] = writer.Annotate(ConfigurationReader.TypeOf(section).Describe(writer), section.Description);
        return new JsonObject
        {
            ["$schema"] = "https://json-schema.org/draft/2020-12/schema",
            ["title"] = "Configuration of the ESB",
            ["type"] = "object",
            ["properties"] = properties,
            ["additionalProperties"] = false,
            ["$defs"] = writer._definitions,
        };
    }

    /// <summary>A reference to the schema of a record, which is described once, at its first use.</summary>
    internal JsonObject Define(Type type, Func<JsonObject> describe)
    {
        if (!_definitions.ContainsKey(type.Name))
        {
            _definitions[type.Name] = new JsonObject(); // its place: records may contain themselves
            _definitions[type.Name] = describe();
        }

        return new JsonObject { ["$ref"] = $"#/$defs/{type.Name}" };
    }

    internal JsonObject Annotate(JsonObject schema, string description)
    {
        schema["description"] = description;
        return schema;
    }
}
