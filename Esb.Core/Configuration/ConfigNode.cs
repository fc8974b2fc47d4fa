using System.Text.Json.Nodes;

namespace Esb.Core.Configuration;

/// <summary>What a node of a configuration holds.</summary>
public enum ConfigKind
{
    /// <summary>JSON null.</summary>
    Null,

    /// <summary>JSON true or false.</summary>
    Boolean,

    /// <summary>A JSON number, kept as it was written.</summary>
    Number,

    /// <summary>A JSON string, its references resolved.</summary>
    Text,

    /// <summary>A JSON array.</summary>
    Array,

    /// <summary>A JSON object.</summary>
    Object,
}

/// <summary>One value of a configuration as it was written, with its path and origin. Immutable.</summary>
public sealed record ConfigNode(ConfigKind Kind, string Path, ConfigOrigin Origin)
{
    private const int DisplayedCharacters = 60;

    /// <summary>The text of a scalar: a string's content, a number's digits, <c>true</c> or <c>false</c>.</summary>
    public string Text { get; init; } = "";

    /// <summary>The elements of an array.</summary>
    public IReadOnlyList<ConfigNode> Items { get; init; } = [];

    /// <summary>The members of an object, in the order written.</summary>
    public IReadOnlyList<ConfigMember> Members { get; init; } = [];

    /// <summary>Whether the text came from outside (an environment variable or a reference), where a number or a boolean is written as text too.</summary>
    public bool IsIndirect { get; init; }

    /// <summary>The first <c>${…}</c> in the text that names neither an environment variable nor a file; null where there is none.</summary>
    public string? UnknownReference { get; init; }

    /// <summary>The member with exactly this name, or null.</summary>
    public ConfigNode? this[string name] => Members.FirstOrDefault(member => member.Name == name)?.Value;

    /// <summary>The path of a member of this object.</summary>
    public string PathOf(string name) => Path.Length == 0 ? name : $"{Path}.{name}";

    /// <summary>How the value is shown to people: on one line, clipped to 60 characters.</summary>
    public string Display()
    {
        var text = Kind switch
        {
            ConfigKind.Text => ToJson()!.ToJsonString(JsonStyle.Readable),
            ConfigKind.Object => "{…}",
            ConfigKind.Array => $"[{Items.Count} items]",
            ConfigKind.Null => "null",
            _ => Text,
        };
        return text.Length <= DisplayedCharacters ? text : text[..(DisplayedCharacters - 1)] + "…";
    }

    /// <summary>The value as JSON; null for JSON null.</summary>
    public JsonNode? ToJson() => Kind switch
    {
        ConfigKind.Null => null,
        ConfigKind.Boolean => JsonValue.Create(Text == "true"),
        ConfigKind.Number => JsonNode.Parse(Text),
        ConfigKind.Text => JsonValue.Create(Text),
        ConfigKind.Array => new JsonArray([.. Items.Select(item => item.ToJson())]),
        _ => new JsonObject(Members.Select(member => KeyValuePair.Create(member.Name, member.Value.ToJson()))),
    };
}

/// <summary>A member of a configured object.</summary>
/// <param name="Name">Exactly as written.</param>
/// <param name="Value">What it holds.</param>
/// <param name="Origin">Where the name itself stands.</param>
public sealed record ConfigMember(string Name, ConfigNode Value, ConfigOrigin Origin);
