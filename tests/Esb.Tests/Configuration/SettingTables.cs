using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Core.Configuration;

namespace Esb.Tests.Configuration;

/// <summary>The rows that tables of settings must have: <c>| key | meaning | default | accepted |</c>, made from a schema.</summary>
internal sealed class SettingTables(JsonObject schema)
{
    /// <summary>Each row with what it is a row of: a section, a kind of endpoint or a step.</summary>
    public IEnumerable<(string Table, string Row)> Rows() =>
        RowsOf("Sections", schema)
            .Concat(schema["$defs"]!.AsObject().SelectMany(definition => RowsOfDefinition(definition.Key, definition.Value!.AsObject())));

    private static IEnumerable<(string Table, string Row)> RowsOfDefinition(string name, JsonObject definition)
    {
        if (definition["allOf"] is JsonArray kinds && kinds[0]!["then"] is not null)
            return kinds
                .Select(kind => kind!["then"]!.AsObject())
                .SelectMany(kind => RowsOf(kind["properties"]!["type"]!["const"]!.GetValue<string>(), kind));
        var whole = definition["anyOf"] is JsonArray forms
            ? forms.OfType<JsonObject>().First(form => form["properties"] is not null)
            : definition;
        return RowsOf(NameOf(name), whole);
    }

    private static IEnumerable<(string Table, string Row)> RowsOf(string table, JsonObject described) =>
        described["properties"]!
            .AsObject()
            .Where(property => property.Value!["const"] is null)
            .Select(property => (table, Row(property.Key, property.Value!.AsObject(), IsRequired(described, property.Key))));

    private static bool IsRequired(JsonObject described, string name) =>
        described["required"] is JsonArray required && required.Any(each => each!.GetValue<string>() == name);

    private static string Row(string name, JsonObject property, bool isRequired)
    {
        var standard =
            isRequired ? "required"
            : property["default"] is { } value ? $"`{value.ToJsonString(JsonStyle.Readable)}`"
            : "";
        return $"| `{name}` | {Escape(property["description"]!.GetValue<string>())} | {standard} | {Escape(Accepted(property))} |";
    }

    // What may stand there; that a reference may, too, goes for all of them.
    private static string Accepted(JsonObject property)
    {
        if (property["anyOf"] is JsonArray forms)
            return Accepted(forms[0]!.AsObject());
        if (property["$ref"] is { } reference)
            return NameOf(reference.GetValue<string>().Split('/')[^1]);
        if (property["enum"] is JsonArray choices)
            return string.Join(", ", choices.Select(choice => $"`{choice}`"));
        if (property["pattern"] is { } pattern)
            return pattern.GetValue<string>().Contains("KiB", StringComparison.Ordinal) ? "size"
                : pattern.GetValue<string>().Contains("ms", StringComparison.Ordinal) ? "duration"
                : "name";
        if (property["items"] is JsonObject items)
            return $"list: {Accepted(items)}";
        if (property["additionalProperties"] is JsonObject values)
            return $"name → {Accepted(values)}";
        return property["type"]?.GetValue<string>() switch
        {
            "integer" => $"{property["minimum"]}..{property["maximum"]}",
            "boolean" => "`true`, `false`",
            "string" => "text",
            null => "any JSON",
            var other => other,
        };
    }

    /// <summary><c>RetryConfig</c> is spoken of as "retry", <c>AuditStepConfig</c> as "audit step".</summary>
    private static string NameOf(string definition) =>
        JsonNamingPolicy.KebabCaseLower.ConvertName(definition.Replace("Config", "", StringComparison.Ordinal)).Replace('-', ' ');

    private static string Escape(string text) => text.Replace("|", "\\|", StringComparison.Ordinal);
}
