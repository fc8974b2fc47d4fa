using System.Text.Json;
using System.Text.Unicode;
using Esb.Core.Audit;
using Esb.Core.Errors;

namespace Esb.Content.Json;

/// <summary>Says what is wrong with a document. Runs only when something is, so it reads the document once more.</summary>
internal static class JsonFaults
{
    private const int LongestText = 200;

    /// <exception cref="EsbException"><c>ESB-JSON-ENCODING</c>: it is not UTF-8.</exception>
    public static void RequireUtf8(ReadOnlySpan<byte> bytes)
    {
        if (!Utf8.IsValid(bytes))
            throw NotUtf8(null);
    }

    /// <param name="error">What the framework says.</param>
    /// <param name="bytes">The document, or its beginning.</param>
    /// <param name="isComplete">Whether that is all of it: a beginning may end within a character.</param>
    public static EsbException Explain(Exception error, ReadOnlySpan<byte> bytes, bool isComplete = true)
    {
        if (!Utf8.IsValid(isComplete ? bytes : WholeCharacters(bytes)))
            return NotUtf8(error);
        if (!bytes.ContainsAnyExcept(JsonRoot.Blanks))
            return Fault("ESB-JSON-EMPTY", "The body is empty; a JSON document was expected.", error);
        var names = new Stack<HashSet<string>>();
        var reader = new Utf8JsonReader(bytes, new JsonReaderOptions { MaxDepth = int.MaxValue });
        try
        {
            while (reader.Read())
            {
                if (reader.CurrentDepth >= JsonInput.MaxDepth && reader.TokenType is JsonTokenType.StartObject or JsonTokenType.StartArray)
                    return Fault(
                        "ESB-JSON-DEPTH",
                        $"The JSON is nested deeper than {JsonInput.MaxDepth} levels, {At(bytes, reader.TokenStartIndex)}.",
                        error
                    );
                if (FindTwin(ref reader, names) is { } name)
                    return Fault(
                        "ESB-JSON-DUPKEY",
                        $"The JSON has the name \"{Clip(name)}\" twice in one object, {At(bytes, reader.TokenStartIndex)}.",
                        error
                    );
            }
        }
        catch (JsonException ex)
        {
            return Unreadable(ex, bytes, error);
        }
        catch (InvalidOperationException)
        {
            return NotText(error, $", {At(bytes, reader.TokenStartIndex)}");
        }

        return Fault("ESB-JSON-SYNTAX", "The JSON cannot be read.", error);
    }

    /// <summary>A string with half of a surrogate pair: it is JSON by its grammar, but no text.</summary>
    public static EsbException NotText(Exception error, string place = "") =>
        Fault("ESB-JSON-ENCODING", $"The JSON has a string that is not Unicode text{place}.", error);

    /// <summary>More of something than a document may have.</summary>
    public static EsbException TooLarge(string reason, ReadOnlySpan<byte> bytes, long offset) =>
        new("ESB-JSON-LIMIT", $"The JSON is refused {At(bytes, offset)}: {reason}.", FaultKind.TooLarge);

    // The framework tells its errors apart by their English text alone. A text that is not known here is a syntax error.
    private static EsbException Unreadable(JsonException found, ReadOnlySpan<byte> bytes, Exception error)
    {
        var place = $"at line {found.LineNumber + 1}, byte {found.BytePositionInLine + 1}";
        var offset = OffsetOf(found, bytes);
        if (found.Message.Contains("after a single JSON value", StringComparison.Ordinal))
            return Fault("ESB-JSON-SYNTAX", $"The JSON cannot be read {place}: extra data at offset {offset}.", error);
        return IsNumber(found.Message, bytes[offset..])
            ? Fault(
                "ESB-JSON-NUMBER",
                $"The JSON cannot be read {place}: a number is written as JSON does not allow ({Cause(found.Message)}).",
                error
            )
            : Fault("ESB-JSON-SYNTAX", $"The JSON cannot be read {place}: {Cause(found.Message)}.", error);
    }

    // NaN, Infinity and +1 begin like no value at all; the rest (01, 0x10, 1., -Infinity) is found within a number.
    private static bool IsNumber(string message, ReadOnlySpan<byte> rest) =>
        message.Contains(" number", StringComparison.Ordinal)
        || message.StartsWith("Invalid leading zero", StringComparison.Ordinal)
        || rest.StartsWith("NaN"u8)
        || rest.StartsWith("Infinity"u8)
        || (rest.Length > 1 && rest[0] is (byte)'+' or (byte)'.' && char.IsAsciiDigit((char)rest[1]));

    private static int OffsetOf(JsonException found, ReadOnlySpan<byte> bytes)
    {
        var offset = 0;
        for (var line = 0; line < found.LineNumber; line++)
            offset += bytes[offset..].IndexOf((byte)'\n') + 1;
        return Math.Min(offset + (int)(found.BytePositionInLine ?? 0), bytes.Length);
    }

    // Without what the last one lacks bytes of (RFC 3629, section 3).
    private static ReadOnlySpan<byte> WholeCharacters(ReadOnlySpan<byte> bytes)
    {
        for (var there = 1; there <= Math.Min(3, bytes.Length); there++)
        {
            var last = bytes[^there];
            if (last < 0x80)
                return bytes;
            if (last < 0xC0)
                continue; // in the middle of a character
            var wanted =
                last < 0xE0 ? 2
                : last < 0xF0 ? 3
                : 4;
            return there < wanted ? bytes[..^there] : bytes;
        }

        return bytes;
    }

    private static EsbException NotUtf8(Exception? error) => new("ESB-JSON-ENCODING", "The JSON is not UTF-8.", FaultKind.Malformed, error);

    private static string? FindTwin(ref Utf8JsonReader reader, Stack<HashSet<string>> names)
    {
        switch (reader.TokenType)
        {
            case JsonTokenType.StartObject:
                names.Push([]);
                return null;
            case JsonTokenType.EndObject:
                names.Pop();
                return null;
            case JsonTokenType.PropertyName:
                var name = reader.GetString()!;
                return names.Peek().Add(name) ? null : name;
            default:
                return null;
        }
    }

    private static EsbException Fault(string code, string message, Exception error) => new(code, message, FaultKind.Malformed, error);

    private static string At(ReadOnlySpan<byte> bytes, long offset)
    {
        var before = bytes[..(int)offset];
        return $"at line {before.Count((byte)'\n') + 1}, byte {offset - before.LastIndexOf((byte)'\n')}";
    }

    // The framework's sentence without its position and full stop: "'}' is invalid after … LineNumber: 0 | BytePositionInLine: 5."
    private static string Cause(string text)
    {
        var end = text.IndexOf(" LineNumber:", StringComparison.Ordinal);
        return Clip((end < 0 ? text : text[..end]).TrimEnd('.'));
    }

    private static string Clip(string text) => MaskedFlow.Excerpt(text, LongestText);
}
