using System.Text;
using System.Text.Json;

namespace Esb.Core.Configuration.Reading;

/// <summary>Reads JSON with comments into nodes that know where they stand. Duplicate properties are errors, never "the last one wins".</summary>
internal sealed class ConfigJson(ConfigText text, ConfigErrors errors)
{
    private const int MaxDepth = 64;
    private const int ShownCharacters = 40;

    private static readonly JsonReaderOptions Options = new() { CommentHandling = JsonCommentHandling.Skip, MaxDepth = MaxDepth };

    /// <summary>The root of the document, or null when it could not be read; then an error says why.</summary>
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
            reader.Read(); // anything behind the root is an error
            return root;
        }
        catch (JsonException ex)
        {
            errors.Add(Explain(ex, reader.BytesConsumed));
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
            JsonTokenType.String => new ConfigNode(ConfigKind.Text, path, origin) { Text = reader.GetString()! },
            JsonTokenType.Number => new ConfigNode(ConfigKind.Number, path, origin) { Text = Encoding.UTF8.GetString(reader.ValueSpan) },
            JsonTokenType.True => new ConfigNode(ConfigKind.Boolean, path, origin) { Text = "true" },
            JsonTokenType.False => new ConfigNode(ConfigKind.Boolean, path, origin) { Text = "false" },
            _ => new ConfigNode(ConfigKind.Null, path, origin),
        };
    }

    private List<ConfigMember> ReadMembers(ref Utf8JsonReader reader, string path)
    {
        var members = new List<ConfigMember>();
        while (reader.Read() && reader.TokenType != JsonTokenType.EndObject)
        {
            var name = reader.GetString()!;
            var origin = text.At(reader.TokenStartIndex);
            reader.Read();
            var value = ReadValue(ref reader, path.Length == 0 ? name : $"{path}.{name}");
            if (members.Find(member => member.Name == name) is { } first)
                errors.Add("ESB-CFG-DUPKEY", value.Path, $"is given twice, at {first.Origin} and at {origin}", origin);
            else
                members.Add(new ConfigMember(name, value, origin));
        }

        return members;
    }

    private List<ConfigNode> ReadItems(ref Utf8JsonReader reader, string path)
    {
        var items = new List<ConfigNode>();
        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray) items.Add(ReadValue(ref reader, $"{path}[{items.Count}]"));
        return items;
    }

    private ConfigError Explain(JsonException exception, long consumed)
    {
        // The reader names the line and the byte in it at which it stopped; what it consumed may lie far before that.
        var offset = exception is { LineNumber: { } line, BytePositionInLine: { } position } ? OffsetOf(line) + position : consumed;
        if (exception.Message.Contains("maximum configured depth", StringComparison.Ordinal))
            return new ConfigError("ESB-CFG-TOOBIG", text.Source, null, $"is nested deeper than {MaxDepth} levels", text.At(offset));

        var rest = Encoding.UTF8.GetString(text.Content.Span[(int)Math.Min(offset, text.Content.Length)..]).TrimStart();
        var shown = rest.Split('\n')[0].TrimEnd();
        if (shown.Length > ShownCharacters) shown = shown[..ShownCharacters];
        var found = shown.Length == 0 ? "the end of the file" : $"'{shown}'";
        return new ConfigError("ESB-CFG-SYNTAX", text.Source, null, $"is not valid JSON at {found}: {Reason(exception)}", text.At(offset));
    }

    private static string Reason(JsonException exception)
    {
        var reason = exception.Message.Split(" LineNumber:")[0].TrimEnd('.');
        return exception.Message.Contains("trailing comma", StringComparison.Ordinal) ? "trailing commas are not allowed" : reason;
    }

    private long OffsetOf(long line)
    {
        var offset = 0;
        for (; line > 0; line--) offset += text.Content.Span[offset..].IndexOf((byte)'\n') + 1;
        return offset;
    }
}
