using System.Text;
using System.Text.Json;
using Esb.Core.Configuration;

namespace Esb.Configuration.Reading;

/// <summary>Reads JSON with comments into nodes that carry their position. Duplicate properties are errors, never "the last one
/// wins".</summary>
internal sealed class ConfigJson(ConfigText text, ConfigErrors errors)
{
    private const int MaxDepth = 64;

    private static readonly JsonReaderOptions Options = new() { CommentHandling = JsonCommentHandling.Skip, MaxDepth = MaxDepth };

    /// <summary>Returns the root of the document; null if it cannot be read, which is reported.</summary>
    public ConfigNode? Read()
    {
        if (text.FindFault() is { } fault)
        {
            errors.Add(fault);
            return null;
        }

        var reader = new Utf8JsonReader(text.Content.Span, Options);
        try
        {
            reader.Read();
            var root = ReadValue(ref reader, path: "");
            reader.Read(); // anything after the root is an error
            return root;
        }
        catch (JsonException ex)
        {
            errors.Add(JsonFault.Describe(ex, text, MaxDepth));
            return null;
        }
    }

    private ConfigNode ReadValue(ref Utf8JsonReader reader, string path)
    {
        var origin = text.At(reader.TokenStartIndex);
        return reader.TokenType switch
        {
            JsonTokenType.StartObject => new ConfigNode(ConfigKind.Object, path, origin) { Members = ReadMembers(ref reader, path) },
            JsonTokenType.StartArray => new ConfigNode(ConfigKind.Array, path, origin) { Items = ReadItems(ref reader, path) },
            JsonTokenType.String => new ConfigNode(ConfigKind.Text, path, origin) { Text = ReadText(ref reader, path) },
            JsonTokenType.Number => new ConfigNode(ConfigKind.Number, path, origin) { Text = Encoding.UTF8.GetString(reader.ValueSpan) },
            JsonTokenType.True => new ConfigNode(ConfigKind.Boolean, path, origin) { Text = "true" },
            JsonTokenType.False => new ConfigNode(ConfigKind.Boolean, path, origin) { Text = "false" },
            _ => new ConfigNode(ConfigKind.Null, path, origin),
        };
    }

    private List<ConfigMember> ReadMembers(ref Utf8JsonReader reader, string path)
    {
        var members = new List<ConfigMember>();
        var firsts = new Dictionary<string, ConfigOrigin>();
        while (reader.Read() && reader.TokenType != JsonTokenType.EndObject)
        {
            var name = ReadText(ref reader, path);
            var origin = text.At(reader.TokenStartIndex);
            reader.Read();
            var value = ReadValue(ref reader, ConfigNode.Join(path, name));
            if (firsts.TryAdd(name, origin))
                members.Add(new ConfigMember(name, value, origin));
            else
                errors.Add("ESB-CFG-DUPKEY", value.Path, $"is given twice, at {firsts[name]} and at {origin}", origin);
        }

        return members;
    }

    private List<ConfigNode> ReadItems(ref Utf8JsonReader reader, string path)
    {
        var items = new List<ConfigNode>();
        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
            items.Add(ReadValue(ref reader, $"{path}[{items.Count}]"));
        return items;
    }

    private string ReadText(ref Utf8JsonReader reader, string path)
    {
        try
        {
            return reader.GetString()!;
        }
        catch (InvalidOperationException)
        {
            // The JSON grammar allows "\ud800", but no text can hold it.
            errors.Add(
                "ESB-CFG-SYNTAX",
                path.Length == 0 ? text.Source : path,
                "holds half of a surrogate pair, which is no character",
                text.At(reader.TokenStartIndex)
            );
            return "";
        }
    }
}
