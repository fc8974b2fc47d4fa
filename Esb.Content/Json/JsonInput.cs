using System.Text;
using System.Text.Json;
using System.Text.Unicode;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Json;

/// <summary>The one way in for JSON of the outside (RFC 8259): UTF-8, no comments, no trailing commas, no duplicate names, at most 64 levels deep.</summary>
public static class JsonInput
{
    /// <summary>Levels of arrays and objects inside one another.</summary>
    public const int MaxDepth = 64;

    private static readonly JsonDocumentOptions Options = new() { MaxDepth = MaxDepth, AllowDuplicateProperties = false };
    private static readonly Func<ReadOnlyMemory<byte>, ParsedJson> ParseBytes = Parse;

    /// <summary>The parsed form of a buffered body, made once and shared by all copies of the message.</summary>
    /// <exception cref="EsbException"><c>ESB-JSON-SYNTAX</c>, <c>ESB-JSON-EMPTY</c>, <c>ESB-JSON-ENCODING</c>, <c>ESB-JSON-DEPTH</c> or <c>ESB-JSON-DUPKEY</c>.</exception>
    public static JsonElement Read(MessageBody body) => body.View(ParseBytes).Root;

    private static ParsedJson Parse(ReadOnlyMemory<byte> bytes)
    {
        if (bytes.Span.StartsWith(Encoding.UTF8.Preamble)) bytes = bytes[Encoding.UTF8.Preamble.Length..];
        if (!Utf8.IsValid(bytes.Span)) throw new EsbException("ESB-JSON-ENCODING", "The JSON is not UTF-8.", FaultKind.Malformed);
        try
        {
            return new ParsedJson(JsonDocument.Parse(bytes, Options).RootElement);
        }
        catch (Exception ex) when (ex is JsonException or InvalidOperationException)
        {
            throw JsonFaults.Explain(ex, bytes.Span);
        }
    }

    /// <summary>The document is not disposed: it lives as long as a message that holds it, which nobody can tell; its pooled memory goes to the collector.</summary>
    private sealed record ParsedJson(JsonElement Root);
}
