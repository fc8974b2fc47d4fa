using System.Globalization;
using System.Text.Json.Nodes;
using Esb.Core.Configuration;

namespace Esb.Configuration.Settings;

/// <summary>Converts values of settings to the form that a configuration uses.</summary>
internal static class SettingValue
{
    /// <summary>Returns the value as JSON; null if it has no short form.</summary>
    public static JsonNode? ToJson(object? value) =>
        value switch
        {
            string text => text,
            bool flag => flag,
            int or long => Convert.ToInt64(value, CultureInfo.InvariantCulture),
            TimeSpan duration => Duration.Format(duration),
            ByteSize size => size.ToString(),
            Enum choice => ChoiceType.NameOf(choice),
            IReadOnlyList<string> { Count: > 0 } list => ToJson(list),
            IReadOnlyList<TimeSpan> { Count: > 0 } list => ToJson(list),
            _ => null,
        };

    private static JsonArray ToJson<T>(IReadOnlyList<T> list) => [.. list.Select(item => ToJson(item))];
}
