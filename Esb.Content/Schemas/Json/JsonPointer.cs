using System.Globalization;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>JSON pointers (RFC 6901).</summary>
internal static class JsonPointer
{
    public static string Escape(string name) =>
        name.Replace("~", "~0", StringComparison.Ordinal).Replace("/", "~1", StringComparison.Ordinal);

    /// <summary>The value at a pointer; null if absent.</summary>
    public static JsonElement? Find(JsonElement value, string pointer)
    {
        foreach (var part in pointer.Split('/').Skip(1))
        {
            if (value.ValueKind == JsonValueKind.Object)
            {
                if (
                    !value.TryGetProperty(
                        part.Replace("~1", "/", StringComparison.Ordinal).Replace("~0", "~", StringComparison.Ordinal),
                        out value
                    )
                )
                    return null;
            }
            else if (
                value.ValueKind == JsonValueKind.Array
                && int.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out var index)
                && index < value.GetArrayLength()
            )
            {
                value = value[index];
            }
            else
            {
                return null;
            }
        }

        return value;
    }
}
