using System.Reflection;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Esb.Host.Management.Description;

/// <summary>Writes the JSON Schemas of the types that the API reads and writes. Records become components; used by one task.</summary>
internal sealed class TypeSchemas
{
    private static readonly Dictionary<Type, (string Type, string? Format)> Simple = new()
    {
        [typeof(string)] = ("string", null),
        [typeof(bool)] = ("boolean", null),
        [typeof(Guid)] = ("string", "uuid"),
        [typeof(DateTimeOffset)] = ("string", "date-time"),
        [typeof(TimeSpan)] = ("string", null),
        [typeof(Uri)] = ("string", "uri"),
        [typeof(int)] = ("integer", "int32"),
        [typeof(long)] = ("integer", "int64"),
        [typeof(double)] = ("number", "double"),
        [typeof(byte[])] = ("string", null),
    };

    private readonly NullabilityInfoContext _nullability = new();

    /// <summary>The components met so far, by name.</summary>
    public JsonObject Components { get; } = [];

    public JsonObject Of(Type type)
    {
        if (Nullable.GetUnderlyingType(type) is { } inner)
            return Of(inner);
        if (Simple.TryGetValue(type, out var simple))
            return OfSimple(type, simple.Type, simple.Format);
        if (type.IsEnum)
            return new JsonObject
            {
                ["type"] = "string",
                ["enum"] = new JsonArray([
                    .. Enum.GetNames(type).Select(name => (JsonNode)JsonNamingPolicy.KebabCaseLower.ConvertName(name)),
                ]),
            };
        if (ArgumentsOf(type, typeof(IReadOnlyDictionary<,>)) is [_, var value])
            return new JsonObject { ["type"] = "object", ["additionalProperties"] = Of(value) };
        if (ArgumentsOf(type, typeof(IEnumerable<>)) is [var item])
            return new JsonObject { ["type"] = "array", ["items"] = Of(item) };
        if (type == typeof(object) || type.Namespace?.StartsWith("Esb.", StringComparison.Ordinal) != true)
            return [];
        return new JsonObject { ["$ref"] = $"#/components/schemas/{ComponentOf(type)}" };
    }

    private static JsonObject OfSimple(Type type, string name, string? format)
    {
        var schema = new JsonObject { ["type"] = name };
        if (format is not null)
            schema["format"] = format;
        if (type == typeof(byte[]))
            schema["contentEncoding"] = "base64";
        return schema;
    }

    private string ComponentOf(Type type)
    {
        var name = NameOf(type);
        if (Components.ContainsKey(name))
            return name;
        var properties = new JsonObject();
        var schema = new JsonObject { ["type"] = "object", ["properties"] = properties };
        Components[name] = schema; // before its members, which may have its own type
        foreach (
            var property in type.GetProperties(BindingFlags.Public | BindingFlags.Instance)
                .Where(property => property.GetIndexParameters().Length == 0)
        )
        {
            if (
                property.Name == "EqualityContract"
                || property.GetCustomAttribute<System.Text.Json.Serialization.JsonIgnoreAttribute>() is not null
            )
                continue;
            properties[JsonNamingPolicy.CamelCase.ConvertName(property.Name)] = Of(property.PropertyType);
        }

        var required = type.GetProperties()
            .Where(property => IsRequired(type, property))
            .Select(property => JsonNamingPolicy.CamelCase.ConvertName(property.Name))
            .ToList();
        if (required.Count > 0)
            schema["required"] = new JsonArray([.. required.Select(one => (JsonNode)one)]);
        return name;
    }

    // Members that are null are left out of answers.
    private bool IsRequired(Type type, PropertyInfo property)
    {
        if (type.Name.EndsWith("Body", StringComparison.Ordinal) || type == typeof(Esb.Core.Endpoints.EndpointTuning))
            return false; // requests
        if (property.GetIndexParameters().Length > 0 || Nullable.GetUnderlyingType(property.PropertyType) is not null)
            return false;
        return property.PropertyType.IsValueType || _nullability.Create(property).ReadState == NullabilityState.NotNull;
    }

    private static string NameOf(Type type) =>
        type.IsGenericType ? $"{type.Name.Split('`')[0]}Of{string.Concat(type.GetGenericArguments().Select(NameOf))}" : type.Name;

    private static Type[]? ArgumentsOf(Type type, Type generic)
    {
        var found =
            type.IsGenericType && type.GetGenericTypeDefinition() == generic
                ? type
                : type.GetInterfaces().FirstOrDefault(one => one.IsGenericType && one.GetGenericTypeDefinition() == generic);
        return found?.GetGenericArguments();
    }
}
