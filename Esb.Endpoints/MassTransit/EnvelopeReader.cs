using System.Globalization;
using System.Text;
using System.Text.Json;
using Esb.Core.Errors;

namespace Esb.Endpoints.MassTransit;

/// <summary>Reads envelopes. The message in them is taken as it is written, and not parsed into a tree.</summary>
internal static class EnvelopeReader
{
    /// <summary>The code of a delivery that is no message of MassTransit.</summary>
    public const string Code = "ESB-MT-ENVELOPE";

    private const int MaxDepth = 64; // as MassTransit itself reads

    /// <exception cref="EsbException"><c>ESB-MT-ENVELOPE</c>: it is no JSON, nested too deep, or holds no message.</exception>
    public static Envelope Read(ReadOnlyMemory<byte> body)
    {
        body = WithoutMark(body);
        var envelope = new Envelope();
        var hasMessage = false;
        try
        {
            var reader = new Utf8JsonReader(body.Span, new JsonReaderOptions { MaxDepth = MaxDepth });
            if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
                throw Malformed("The envelope is not a JSON object.");
            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                var name = reader.GetString()!;
                reader.Read();
                if (Is(name, "message"))
                {
                    hasMessage = reader.TokenType == JsonTokenType.StartObject;
                    envelope = envelope with { Message = Slice(ref reader, body) };
                }
                else
                {
                    envelope = With(envelope, name, ref reader);
                }
            }

            while (reader.Read())
            {
                // Anything behind the object is an error, which the reader reports.
            }
        }
        catch (Exception ex) when (ex is JsonException or InvalidOperationException) // the latter: text that is no UTF-8
        {
            throw Malformed("The envelope cannot be read as JSON, or is nested too deep.", ex);
        }

        return hasMessage ? envelope : throw Malformed("The envelope holds no message that is a JSON object.");
    }

    /// <summary>Checks a message without an envelope.</summary>
    /// <exception cref="EsbException"><c>ESB-MT-ENVELOPE</c>: it is no JSON object, or nested too deep.</exception>
    public static ReadOnlyMemory<byte> ReadRaw(ReadOnlyMemory<byte> body)
    {
        body = WithoutMark(body);
        return IsObject(body.Span) ? body : throw Malformed("The message is not a JSON object, or is nested too deep.");
    }

    /// <summary>True if bytes are one JSON object, nested at most 64 deep.</summary>
    public static bool IsObject(ReadOnlySpan<byte> json)
    {
        try
        {
            var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = MaxDepth });
            if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
                return false;
            while (reader.Read())
            {
                // The reader checks the syntax.
            }

            return true;
        }
        catch (JsonException)
        {
            return false;
        }
    }

    // Names are compared without regard to case, as MassTransit does.
    private static Envelope With(Envelope envelope, string name, ref Utf8JsonReader reader)
    {
        if (Is(name, "messageType"))
            return envelope with { MessageTypes = Texts(ref reader) };
        if (Is(name, "headers"))
            return envelope with { Headers = Headers(ref reader) };
        if (Is(name, "messageId"))
            return envelope with { MessageId = Text(ref reader) };
        if (Is(name, "requestId"))
            return envelope with { RequestId = Text(ref reader) };
        if (Is(name, "correlationId"))
            return envelope with { CorrelationId = Text(ref reader) };
        if (Is(name, "conversationId"))
            return envelope with { ConversationId = Text(ref reader) };
        if (Is(name, "sourceAddress"))
            return envelope with { SourceAddress = Text(ref reader) };
        if (Is(name, "responseAddress"))
            return envelope with { ResponseAddress = Text(ref reader) };
        if (Is(name, "faultAddress"))
            return envelope with { FaultAddress = Text(ref reader) };
        if (Is(name, "sentTime"))
            return envelope with { SentTime = TimeOf(Text(ref reader)) };
        if (Is(name, "expirationTime"))
            return envelope with { ExpirationTime = TimeOf(Text(ref reader)) };
        reader.Skip();
        return envelope;
    }

    private static ReadOnlyMemory<byte> Slice(ref Utf8JsonReader reader, ReadOnlyMemory<byte> body)
    {
        var start = (int)reader.TokenStartIndex;
        reader.Skip();
        return body[start..(int)reader.BytesConsumed];
    }

    private static string? Text(ref Utf8JsonReader reader)
    {
        if (reader.TokenType == JsonTokenType.String)
            return reader.GetString();
        reader.Skip();
        return null;
    }

    private static List<string> Texts(ref Utf8JsonReader reader)
    {
        var texts = new List<string>();
        if (reader.TokenType != JsonTokenType.StartArray)
        {
            if (Text(ref reader) is { } one)
                texts.Add(one);
            return texts;
        }

        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
        {
            if (Text(ref reader) is { } text)
                texts.Add(text);
        }

        return texts;
    }

    private static List<KeyValuePair<string, string>> Headers(ref Utf8JsonReader reader)
    {
        var headers = new List<KeyValuePair<string, string>>();
        if (reader.TokenType != JsonTokenType.StartObject)
        {
            reader.Skip();
            return headers;
        }

        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            var name = reader.GetString()!;
            reader.Read();
            if (Scalar(ref reader) is { } value)
                headers.Add(new(name, value));
        }

        return headers;
    }

    private static string? Scalar(ref Utf8JsonReader reader)
    {
        switch (reader.TokenType)
        {
            case JsonTokenType.String:
                return reader.GetString();
            case JsonTokenType.True:
                return "true";
            case JsonTokenType.False:
                return "false";
            case JsonTokenType.Number:
                return Encoding.UTF8.GetString(reader.ValueSpan);
            default:
                reader.Skip();
                return null;
        }
    }

    private static ReadOnlyMemory<byte> WithoutMark(ReadOnlyMemory<byte> body) =>
        body.Span.StartsWith(Encoding.UTF8.Preamble) ? body[Encoding.UTF8.Preamble.Length..] : body;

    private static DateTimeOffset? TimeOf(string? text) =>
        DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var time) ? time : null;

    private static bool Is(string name, string expected) => string.Equals(name, expected, StringComparison.OrdinalIgnoreCase);

    private static EsbException Malformed(string reason, Exception? cause = null) => new(Code, reason, FaultKind.Malformed, cause);
}
