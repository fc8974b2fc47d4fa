using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;

namespace Esb.Tests.Configuration;

/// <summary>Checks JSON against a schema that uses only the keywords which ours use; any other keyword is a fault of the schema.</summary>
internal sealed class SchemaValidator(JsonObject schema)
{
    private static readonly string[] Annotations =
    [
        "$schema",
        "$defs",
        "title",
        "description",
        "default",
        "enumDescriptions",
        "examples",
        "then",
    ];

    public IReadOnlyList<string> Validate(JsonNode? instance) => [.. Validate(instance, schema, "$")];

    private IEnumerable<string> Validate(JsonNode? instance, JsonObject schema, string path) =>
        schema
            .Where(keyword => !Annotations.Contains(keyword.Key))
            .SelectMany(keyword => Check(instance, keyword.Key, keyword.Value!, schema, path));

    private IEnumerable<string> Check(JsonNode? instance, string keyword, JsonNode value, JsonObject schema, string path)
    {
        switch (keyword)
        {
            case "$ref":
                return Validate(instance, Definition(value.GetValue<string>()), path);
            case "type":
                return Unless(TypesOf(value).Any(type => IsOfType(instance, type)), $"{path} is no {value.ToJsonString()}");
            case "const":
                return Unless(JsonNode.DeepEquals(instance, value), $"{path} is not {value.ToJsonString()}");
            case "enum":
                return Unless(
                    value.AsArray().Any(choice => JsonNode.DeepEquals(instance, choice)),
                    $"{path} is none of {value.ToJsonString()}"
                );
            case "pattern":
                return instance is JsonValue text && text.GetValueKind() == JsonValueKind.String
                    ? Unless(Regex.IsMatch(text.GetValue<string>(), value.GetValue<string>()), $"{path} does not match {value}")
                    : [];
            case "minimum":
                return IsOfType(instance, "number")
                    ? Unless(instance!.GetValue<double>() >= value.GetValue<long>(), $"{path} is below {value}")
                    : [];
            case "maximum":
                return IsOfType(instance, "number")
                    ? Unless(instance!.GetValue<double>() <= value.GetValue<long>(), $"{path} is above {value}")
                    : [];
            case "items":
                return instance is JsonArray array
                    ? array.SelectMany((item, index) => Validate(item, value.AsObject(), $"{path}[{index}]"))
                    : [];
            case "properties":
                return instance is JsonObject owner
                    ? owner
                        .Where(member => value[member.Key] is not null)
                        .SelectMany(member => Validate(member.Value, value[member.Key]!.AsObject(), $"{path}.{member.Key}"))
                    : [];
            case "propertyNames":
                return instance is JsonObject named
                    ? named.SelectMany(member => Validate(JsonValue.Create(member.Key), value.AsObject(), $"{path} name"))
                    : [];
            case "required":
                return instance is JsonObject whole
                    ? value.AsArray().Where(name => !whole.ContainsKey(name!.GetValue<string>())).Select(name => $"{path} has no {name}")
                    : [];
            case "additionalProperties":
                return instance is JsonObject open
                    ? open.Where(member => schema["properties"]?[member.Key] is null)
                        .SelectMany(member => Additional(member.Value, value, $"{path}.{member.Key}"))
                    : [];
            case "not":
                return Unless(Validate(instance, value.AsObject(), path).Any(), $"{path} is what it must not be");
            case "allOf":
                return value.AsArray().SelectMany(each => Validate(instance, each!.AsObject(), path));
            case "anyOf":
                return Unless(Fitting(instance, value, path) > 0, $"{path} fits none of anyOf");
            case "if":
                return Validate(instance, value.AsObject(), path).Any() ? [] : Validate(instance, schema["then"]!.AsObject(), path);
            case "oneOf":
                return Unless(Fitting(instance, value, path) == 1, $"{path} fits {Fitting(instance, value, path)} of oneOf");
            default:
                return [$"the schema uses {keyword}"];
        }
    }

    private IEnumerable<string> Additional(JsonNode? instance, JsonNode value, string path) =>
        value is JsonObject schema ? Validate(instance, schema, path) : [$"{path} is not known"];

    private int Fitting(JsonNode? instance, JsonNode schemas, string path) =>
        schemas.AsArray().Count(each => !Validate(instance, each!.AsObject(), path).Any());

    private JsonObject Definition(string reference) => schema["$defs"]![reference["#/$defs/".Length..]]!.AsObject();

    private static IEnumerable<string> TypesOf(JsonNode value) =>
        value is JsonArray types ? types.Select(type => type!.GetValue<string>()) : [value.GetValue<string>()];

    private static bool IsOfType(JsonNode? instance, string type) =>
        type switch
        {
            "object" => instance is JsonObject,
            "array" => instance is JsonArray,
            "null" => instance is null,
            "string" => instance?.GetValueKind() == JsonValueKind.String,
            "boolean" => instance?.GetValueKind() is JsonValueKind.True or JsonValueKind.False,
            "number" => instance?.GetValueKind() == JsonValueKind.Number,
            "integer" => instance?.GetValueKind() == JsonValueKind.Number && instance.GetValue<double>() % 1 == 0,
            _ => throw new ArgumentException($"'{type}' is no type of JSON Schema."),
        };

    private static IEnumerable<string> Unless(bool fits, string fault) => fits ? [] : [fault];
}
