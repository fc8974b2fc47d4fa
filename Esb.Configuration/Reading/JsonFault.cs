using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Esb.Core.Configuration;

namespace Esb.Configuration.Reading;

/// <summary>Describes why a text is not valid JSON: the position, the token and the reason.</summary>
internal static partial class JsonFault
{
    private const int ShownCharacters = 40;

    public static ConfigError Describe(JsonException exception, ConfigText text, int maxDepth)
    {
        // The reader reports the line and byte where it stopped; the consumed bytes may end far before that position.
        var offset = (int)Math.Min(StartOf(exception.LineNumber ?? 0, text) + (exception.BytePositionInLine ?? 0), text.Content.Length);
        if (exception.Message.Contains("maximum configured depth", StringComparison.Ordinal))
            return new ConfigError("ESB-CFG-TOOBIG", text.Source, null, $"is nested deeper than {maxDepth} levels", text.At(offset));

        if (text.MayBeSecret)
            return new ConfigError(
                "ESB-CFG-SYNTAX",
                text.Source,
                null,
                "is not valid JSON (what stands there is not shown, it may be a secret)",
                text.At(offset)
            );
        var found = OffendingToken(text.Content.Span[offset..]);
        return new ConfigError("ESB-CFG-SYNTAX", text.Source, null, $"is not valid JSON at {found}: {Reason(exception)}", text.At(offset));
    }

    // Only the first token is shown: the text after a name may be a secret.
    private static string OffendingToken(ReadOnlySpan<byte> rest)
    {
        var text = Encoding.UTF8.GetString(rest[..Math.Min(rest.Length, 4 * ShownCharacters)]);
        var token = Token().Match(text.TrimStart()).Value;
        return token.Length == 0 ? "the end of the file" : $"'{Clipped.To(ShownCharacters, token)}'";
    }

    private static string Reason(JsonException exception) =>
        exception.Message.Contains("trailing comma", StringComparison.Ordinal)
            ? "trailing commas are not allowed"
            : exception.Message.Split(" LineNumber:")[0].TrimEnd('.');

    private static long StartOf(long line, ConfigText text)
    {
        var offset = 0;
        for (; line > 0; line--)
            offset += text.Content.Span[offset..].IndexOf((byte)'\n') + 1;
        return offset;
    }

    [GeneratedRegex("""^("[^"\n]*"?|[^\s",:\[\]{}]+|.)""")]
    private static partial Regex Token();
}
