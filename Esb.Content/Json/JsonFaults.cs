using System.Text.Json;
using Esb.Core.Errors;

namespace Esb.Content.Json;

/// <summary>Says what is wrong with a document. Runs only when something is, so it reads the document once more.</summary>
internal static class JsonFaults
{
    public static EsbException Explain(Exception error, ReadOnlySpan<byte> bytes)
    {
        if (bytes.Trim(" \t\r\n"u8).IsEmpty) return Fault("ESB-JSON-EMPTY", "The body is empty; a JSON document was expected.", error);
        var names = new Stack<HashSet<string>>();
        var reader = new Utf8JsonReader(bytes, new JsonReaderOptions { MaxDepth = int.MaxValue });
        try
        {
            while (reader.Read())
            {
                if (reader.CurrentDepth >= JsonInput.MaxDepth && reader.TokenType is JsonTokenType.StartObject or JsonTokenType.StartArray)
                    return Fault("ESB-JSON-DEPTH", $"The JSON is nested deeper than {JsonInput.MaxDepth} levels, {At(bytes, reader.TokenStartIndex)}.", error);
                if (FindTwin(ref reader, names) is { } name)
                    return Fault("ESB-JSON-DUPKEY", $"The JSON has the name \"{Clip(name)}\" twice in one object, {At(bytes, reader.TokenStartIndex)}.", error);
            }
        }
        catch (JsonException ex)
        {
            return Fault("ESB-JSON-SYNTAX", $"The JSON cannot be read at line {ex.LineNumber + 1}, byte {ex.BytePositionInLine + 1}: {Cause(ex.Message)}.", error);
        }
        catch (InvalidOperationException)
        {
            return NotText(error, $", {At(bytes, reader.TokenStartIndex)}");
        }

        return Fault("ESB-JSON-SYNTAX", "The JSON cannot be read.", error);
    }

    /// <summary>A string with half of a surrogate pair: it is JSON by its grammar, but no text.</summary>
    public static EsbException NotText(Exception error, string place = "") =>
        Fault("ESB-JSON-ENCODING", $"The JSON has a string that is no Unicode text{place}.", error);

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

    private static string Clip(string text) => text.Length <= 200 ? text : text[..200] + "…";
}
