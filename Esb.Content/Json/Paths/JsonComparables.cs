using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace Esb.Content.Json.Paths;

/// <summary>An operand of a comparison: one value, or nothing (null).</summary>
internal abstract class JsonComparable
{
    public abstract JsonElement? Value(JsonElement current, JsonScope scope);

    protected static JsonElement Number(int number) => JsonSerializer.SerializeToElement(number);
}

internal sealed class LiteralValue(JsonElement literal) : JsonComparable
{
    public string? Text => literal.ValueKind == JsonValueKind.String ? literal.GetString() : null;

    public override JsonElement? Value(JsonElement current, JsonScope scope) => literal;
}

internal sealed class QueryValue(JsonQuery query) : JsonComparable
{
    public override JsonElement? Value(JsonElement current, JsonScope scope) => query.First(current, scope);
}

/// <summary><c>length(…)</c>: of a text in characters, of an array or object in elements (RFC 9535, section 2.4.4).</summary>
internal sealed class LengthFunction(JsonComparable argument) : JsonComparable
{
    public override JsonElement? Value(JsonElement current, JsonScope scope) =>
        argument.Value(current, scope) switch
        {
            { ValueKind: JsonValueKind.String } text => Number(text.GetString()!.EnumerateRunes().Count()),
            { ValueKind: JsonValueKind.Array } array => Number(array.GetArrayLength()),
            { ValueKind: JsonValueKind.Object } whole => Number(whole.GetPropertyCount()),
            _ => null,
        };
}

/// <summary><c>count(…)</c>: the number of nodes selected (section 2.4.5).</summary>
internal sealed class CountFunction(JsonQuery query) : JsonComparable
{
    public override JsonElement? Value(JsonElement current, JsonScope scope) => Number(query.Select(current, scope).Count);
}

/// <summary><c>value(…)</c>: the one node selected; nothing where there are more or fewer (section 2.4.8).</summary>
internal sealed class ValueFunction(JsonQuery query) : JsonComparable
{
    public override JsonElement? Value(JsonElement current, JsonScope scope) => query.Select(current, scope) is [var only] ? only : null;
}

/// <summary><c>match(…)</c> and <c>search(…)</c>: whether a text matches a regular expression (sections 2.4.6 and 2.4.7).</summary>
internal sealed class RegexTest(JsonComparable argument, Regex regex) : JsonTest
{
    /// <summary>The test for a pattern; null if the pattern is invalid.</summary>
    public static RegexTest? Compile(JsonComparable argument, string pattern, bool isWhole)
    {
        try
        {
            var translated = Translate(pattern);
            return new RegexTest(
                argument,
                new Regex(
                    isWhole ? $@"\A(?:{translated})\z" : translated,
                    RegexOptions.NonBacktracking | RegexOptions.CultureInvariant,
                    Regex.InfiniteMatchTimeout
                )
            );
        }
        catch (Exception ex) when (ex is ArgumentException or NotSupportedException)
        {
            return null;
        }
    }

    public override bool Holds(JsonElement current, JsonScope scope) =>
        argument.Value(current, scope) is { ValueKind: JsonValueKind.String } text && regex.IsMatch(text.GetString()!);

    // The dot of RFC 9485 is a whole character, where .NET's is half of one beyond U+FFFF, and leaves out the carriage return too.
    private const string Dot = @"(?:[\uD800-\uDBFF][\uDC00-\uDFFF]|[^\n\r])";

    private static string Translate(string pattern)
    {
        var translated = new StringBuilder();
        var isInClass = false;
        for (var i = 0; i < pattern.Length; i++)
        {
            if (pattern[i] == '\\' && i + 1 < pattern.Length)
            {
                translated.Append(pattern, i++, 2);
                continue;
            }

            isInClass = pattern[i] == '[' || (isInClass && pattern[i] != ']');
            translated.Append(pattern[i] == '.' && !isInClass ? Dot : pattern[i].ToString());
        }

        return translated.ToString();
    }
}
