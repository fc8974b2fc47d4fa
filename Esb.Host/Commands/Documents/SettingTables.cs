using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;

namespace Esb.Host.Commands.Documents;

/// <summary>The tables of settings, made from the schema of configurations: <c>| key | meaning | default | accepted |</c>.</summary>
/// <remarks>Settings that all endpoints have alike, or all inbound or outbound ones, have tables of their own, and are left out of those of
/// each type; so are the settings that conditions share with values, and fields with columns.</remarks>
internal static class SettingTables
{
    public const string Endpoints = "endpoints";
    public const string Inbound = "inbound endpoints";
    public const string Outbound = "outbound endpoints";

    private const string Endpoint = "endpoint ";

    /// <summary>The rows of each table that has any, by its name: <c>sections</c>, <c>retry</c>, <c>store postgres</c>.</summary>
    public static IReadOnlyDictionary<string, IReadOnlyList<string>> Of(SettingsCatalog catalog)
    {
        var schema = SchemaWriter.Write(catalog);
        var tables = schema["$defs"]!
            .AsObject()
            .SelectMany(definition => Tables(NameOf(definition.Key), definition.Value!.AsObject()))
            .Prepend(("sections", RowsOf(schema)))
            .ToDictionary(table => table.Item1, table => table.Item2);
        Share(tables, Endpoints, name => name.StartsWith(Endpoint, StringComparison.Ordinal));
        Share(tables, Inbound, IsInbound);
        Share(tables, Outbound, name => name.StartsWith(Endpoint, StringComparison.Ordinal) && !IsInbound(name));
        LeaveOut(tables, "condition", "value");
        LeaveOut(tables, "flat field", "csv column");
        return tables.Where(table => table.Value.Count > 0).ToDictionary(table => table.Key, table => table.Value);
    }

    private static bool IsInbound(string name) =>
        name.StartsWith(Endpoint, StringComparison.Ordinal) && name.EndsWith("-inbound", StringComparison.Ordinal);

    // What all of these have is a table of its own, in the form that most of them have; those with another form list it themselves.
    private static void Share(Dictionary<string, IReadOnlyList<string>> tables, string name, Func<string, bool> isMember)
    {
        var members = tables.Keys.Where(isMember).ToList();
        var most = name == Endpoints ? members.Count : members.Count / 2 + 1;
        IReadOnlyList<string> shared =
        [
            .. tables[members[0]]
                .Concat(members.SelectMany(member => tables[member]))
                .Distinct()
                .Where(row => members.Count(member => tables[member].Contains(row)) >= most)
                .Where(row => members.All(member => tables[member].Any(other => KeyOf(other) == KeyOf(row)))),
        ];
        foreach (var member in members)
            tables[member] = [.. tables[member].Except(shared)];
        tables[name] = shared;
    }

    private static void LeaveOut(Dictionary<string, IReadOnlyList<string>> tables, string name, string other) =>
        tables[name] = [.. tables[name].Except(tables[other])];

    private static string KeyOf(string row) => row[..row.IndexOf('|', 1)];

    private static IEnumerable<(string Name, IReadOnlyList<string> Rows)> Tables(string name, JsonObject definition)
    {
        if (definition["allOf"] is JsonArray kinds && kinds[0]!["then"] is not null)
            return kinds
                .Select(kind => kind!["then"]!.AsObject())
                .Select(kind => ($"{name} {kind["properties"]!["type"]!["const"]!.GetValue<string>()}", RowsOf(kind)));
        var whole = definition["anyOf"] is JsonArray forms
            ? forms.OfType<JsonObject>().First(form => form["properties"] is not null)
            : definition;
        return [(name, RowsOf(whole))];
    }

    private static IReadOnlyList<string> RowsOf(JsonObject described) =>
        [
            .. described["properties"]!
                .AsObject()
                .Where(property => property.Value!["const"] is null)
                .Select(property => Row(property.Key, property.Value!.AsObject(), IsRequired(described, property.Key))),
        ];

    private static bool IsRequired(JsonObject described, string name) =>
        described["required"] is JsonArray required && required.Any(each => each!.GetValue<string>() == name);

    private static string Row(string name, JsonObject property, bool isRequired)
    {
        var standard =
            isRequired ? "required"
            : property["default"] is { } value ? $"`{value.ToJsonString(JsonStyle.Readable)}`"
            : "";
        var meaning = MarkdownPage.Cell(property["description"]!.GetValue<string>());
        return $"| `{name}` | {meaning} | {standard} | {MarkdownPage.Cell(Accepted(property))} |";
    }

    // Every value may be a reference, too, which is not repeated.
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

    /// <summary><c>RetryConfig</c> is called "retry", <c>AuditStepConfig</c> "audit step".</summary>
    private static string NameOf(string definition) =>
        JsonNamingPolicy.KebabCaseLower.ConvertName(definition.Replace("Config", "", StringComparison.Ordinal)).Replace('-', ' ');
}
