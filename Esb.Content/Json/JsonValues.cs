using System.Text;
using System.Text.Json;
using Esb.Content.Expressions;

namespace Esb.Content.Json;

/// <summary>JSON values as expressions compare them: text, a number, a boolean, null for no value; objects and arrays as they are
/// written.</summary>
internal static class JsonValues
{
    /// <exception cref="InvalidOperationException">A string is no Unicode text.</exception>
    public static object? Of(JsonElement node) =>
        node.ValueKind switch
        {
            JsonValueKind.String => node.GetString(),
            JsonValueKind.Number => NumberText.FromJson(node.GetRawText()),
            JsonValueKind.True => true,
            JsonValueKind.False => false,
            JsonValueKind.Null => null,
            _ => node.GetRawText(),
        };

    /// <summary>The text, number, boolean or null at which a reader stands.</summary>
    /// <exception cref="InvalidOperationException">A string is no Unicode text.</exception>
    public static object? Of(ref Utf8JsonReader reader) =>
        reader.TokenType switch
        {
            JsonTokenType.String => reader.GetString(),
            JsonTokenType.Number => NumberText.FromJson(TextOf(reader.ValueSpan)),
            JsonTokenType.True => true,
            JsonTokenType.False => false,
            _ => null,
        };

    /// <summary>JSON as it is written.</summary>
    public static string TextOf(ReadOnlySpan<byte> json) => Encoding.UTF8.GetString(json);
}
