using System.Text;
using System.Text.Json;
using Esb.Content.Json.Scanning;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Json;

/// <summary>The single entry point for external JSON (RFC 8259): UTF-8, no comments, no trailing commas, no duplicate names, at most 64
/// levels deep.</summary>
/// <remarks>Reads and checks a document to its end; conditions read only as far as they must (<see cref="JsonScan"/>).</remarks>
public static class JsonInput
{
    /// <summary>The maximum nesting depth of arrays and objects.</summary>
    public const int MaxDepth = 64;

    /// <summary>The maximum length of a name, in bytes.</summary>
    public const int MaxNameBytes = 64 * 1024;

    /// <summary>The maximum number of members of an object.</summary>
    public const int MaxMembers = 100_000;

    private static readonly JsonDocumentOptions Options = new() { MaxDepth = MaxDepth, AllowDuplicateProperties = false };
    private static readonly JsonDocumentOptions Checked = new() { MaxDepth = MaxDepth };
    private static readonly JsonPathSet NoPaths = new();
    private static readonly Func<ReadOnlyMemory<byte>, ParsedJson> ParseBytes = Parse;

    /// <summary>The parsed form of a buffered body, made once and shared by all copies of the message.</summary>
    /// <exception cref="EsbException">
    /// <c>ESB-JSON-SYNTAX</c>, <c>ESB-JSON-NUMBER</c>, <c>ESB-JSON-EMPTY</c>, <c>ESB-JSON-ENCODING</c>, <c>ESB-JSON-DEPTH</c>,
    /// <c>ESB-JSON-DUPKEY</c> or <c>ESB-JSON-LIMIT</c>.
    /// </exception>
    public static JsonElement Read(MessageBody body) => body.View(ParseBytes).Root;

    private static ParsedJson Parse(ReadOnlyMemory<byte> bytes)
    {
        if (bytes.Span.StartsWith(Encoding.UTF8.Preamble))
            bytes = bytes[Encoding.UTF8.Preamble.Length..];
        JsonFaults.RequireUtf8(bytes.Span);
        var mayBeTooLarge = bytes.Length > MaxNameBytes; // a smaller one can exceed no limit
        if (mayBeTooLarge)
            new JsonScan(NoPaths, bytes).ReadToEnd();
        try
        {
            return new ParsedJson(JsonDocument.Parse(bytes, mayBeTooLarge ? Checked : Options).RootElement);
        }
        catch (Exception ex) when (ex is JsonException or InvalidOperationException)
        {
            throw JsonFaults.Explain(ex, bytes.Span);
        }
    }

    /// <summary>The document is not disposed, because the lifetime of the messages that hold it is unknown; its pooled memory goes to the
    /// garbage collector.</summary>
    private sealed record ParsedJson(JsonElement Root);
}
