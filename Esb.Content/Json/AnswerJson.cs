using System.Text;
using System.Text.Json;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Json;

/// <summary>The body of an answer as a JSON value: JSON as it is, a text as a JSON text, nothing as null. Thread-safe.</summary>
public static class AnswerJson
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>True if the media type is JSON.</summary>
    public static bool IsJson(string? contentType)
    {
        var type = contentType?.Split(';')[0].Trim() ?? "";
        return type.EndsWith("/json", StringComparison.OrdinalIgnoreCase) || type.EndsWith("+json", StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>Returns the JSON value of a buffered body.</summary>
    /// <exception cref="EsbException"><c>ESB-BODY-ENCODING</c>: it is no text. <c>ESB-JSON-…</c>: it claims to be JSON, and is
    /// not.</exception>
    public static ReadOnlyMemory<byte> Of(MessageBody body, string? contentType)
    {
        if (body.Length == 0)
            return "null"u8.ToArray();
        if (IsJson(contentType))
            return Encoding.UTF8.GetBytes(JsonInput.Read(body).GetRawText());
        try
        {
            var bytes = body.Bytes.Span;
            return JsonSerializer.SerializeToUtf8Bytes(
                Strict.GetString(bytes.StartsWith(Encoding.UTF8.Preamble) ? bytes[3..] : bytes),
                JsonStyle.Readable
            );
        }
        catch (DecoderFallbackException ex)
        {
            throw new EsbException("ESB-BODY-ENCODING", "The answer is neither JSON nor a text in UTF-8.", FaultKind.Outside, ex);
        }
    }
}
