using System.Text.Json.Nodes;

namespace Esb.Core.Configuration;

/// <summary>Kind of a configuration value.</summary>
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
    /// <summary>The text of a scalar: a string's content, a number's digits, <c>true</c> or <c>false</c>.</summary>
    public string Text { get; init; } = "";

    /// <summary>The elements of an array.</summary>
    public IReadOnlyList<ConfigNode> Items { get; init; } = [];

    /// <summary>The members of an object, in the order written.</summary>
    public IReadOnlyList<ConfigMember> Members { get; init; } = [];

    /// <summary>True if the text comes from an environment variable or a reference, in which numbers and booleans are written as text
    /// too.</summary>
    public bool IsIndirect { get; init; }

    /// <summary>The first <c>${…}</c> in the text that names neither an environment variable nor a file; null if none.</summary>
    public string? UnknownReference { get; init; }

    /// <summary>The text before its references were resolved, which is displayed to people; null if the node has none.</summary>
    internal string? Written { get; init; }

    /// <summary>True if a reference in the text could not be resolved. This error has been reported; the text needs no further
    /// error.</summary>
    internal bool IsUnresolved { get; init; }

    /// <summary>Secret part of the value, which must never be shown.</summary>
    internal Secrecy Secrecy { get; init; }

    /// <summary>The member with exactly this name, or null.</summary>
    public ConfigNode? this[string name] => Members.FirstOrDefault(member => member.Name == name)?.Value;

    /// <summary>The path of a member of this object.</summary>
    public string PathOf(string name) => Join(Path, name);

    /// <summary>Displays the value on one line, clipped to 60 characters, with secrets as <c>***</c> and references as written.</summary>
    public string Display() =>
        Kind switch
        {
            ConfigKind.Object => "{…}",
            ConfigKind.Array => $"[{Items.Count} items]",
            _ => Clipped.To(Clipped.ValueLength, Show()),
        };

    /// <summary>The value as JSON; null for JSON null.</summary>
    public JsonNode? ToJson() => ToJson(node => node.Text);

    /// <summary>The value as JSON with its references as they are written, not with what they stand for.</summary>
    internal JsonNode? ToWrittenJson() => ToJson(node => node.Written ?? node.Text);

    /// <summary>The whole value on one line, without its secrets.</summary>
    internal string Show() =>
        Secrecy == Secrecy.Whole
            ? Secrets.Mask
            : ToJson(node => Secrets.Hide(node.Secrecy, node))?.ToJsonString(JsonStyle.Readable) ?? "null";

    /// <summary>The same value with another path and origin, such as a value from a variable or a default.</summary>
    internal ConfigNode MoveTo(string path, ConfigOrigin origin) =>
        this with
        {
            Path = path,
            Origin = origin,
            Members =
            [
                .. Members.Select(member => new ConfigMember(member.Name, member.Value.MoveTo(Join(path, member.Name), origin), origin)),
            ],
            Items = [.. Items.Select((item, index) => item.MoveTo($"{path}[{index}]", origin))],
        };

    /// <summary>The path of a member. An unknown name is shortened, and kept on one line.</summary>
    public static string Join(string path, string name)
    {
        var shown = Clipped.Name(name);
        return path.Length == 0 ? shown : $"{path}.{shown}";
    }

    private JsonNode? ToJson(Func<ConfigNode, string> text) =>
        Kind switch
        {
            ConfigKind.Null => null,
            ConfigKind.Boolean => JsonValue.Create(Text == "true"),
            ConfigKind.Number => JsonNode.Parse(Text),
            ConfigKind.Text => JsonValue.Create(text(this)),
            ConfigKind.Array => new JsonArray([.. Items.Select(item => item.ToJson(text))]),
            _ => new JsonObject(Members.Select(member => KeyValuePair.Create(member.Name, member.Value.ToJson(text)))),
        };
}

/// <summary>A member of a configured object.</summary>
/// <param name="Name">Exactly as written.</param>
/// <param name="Value">Its value.</param>
/// <param name="Origin">Position of the name.</param>
public sealed record ConfigMember(string Name, ConfigNode Value, ConfigOrigin Origin);
