using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Host.Logging;

/// <summary>Formats a log entry as one JSON object a line: <c>time</c>, <c>level</c>, <c>category</c>, <c>logger</c>, <c>event</c>,
/// <c>message</c>, and the named values of the entry, such as <c>endpoint</c> and <c>messageId</c>. Secrets are masked.</summary>
internal static class LogJson
{
    // read by collectors, not by browsers
    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
    private static readonly HashSet<string> Own = ["time", "level", "category", "logger", "event", "message", "code", "exception", "stack"];

    public static void Write<TState>(in LogEntry<TState> entry, DateTimeOffset time, TextWriter writer)
    {
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer, Options))
        {
            json.WriteStartObject();
            json.WriteString("time", time.ToString("yyyy-MM-dd'T'HH:mm:ss.fffzzz", System.Globalization.CultureInfo.InvariantCulture));
            json.WriteString("level", LogText.LevelOf(entry.LogLevel).Trim().ToLowerInvariant());
            json.WriteString("category", LogCategory.Shorten(entry.Category));
            json.WriteString("logger", entry.Category);
            json.WriteNumber("event", entry.EventId.Id);
            json.WriteString("message", MaskedFlow.Clean(entry.Formatter(entry.State, entry.Exception)));
            WriteValues(entry.State, entry.Exception, json);
            if (entry.Exception is { } exception)
                WriteException(exception, json);
            json.WriteEndObject();
        }

        writer.WriteLine(Encoding.UTF8.GetString(buffer.GetBuffer(), 0, (int)buffer.Length));
    }

    private static void WriteValues<TState>(TState state, Exception? exception, Utf8JsonWriter json)
    {
        if (state is not IReadOnlyList<KeyValuePair<string, object?>> values)
            return;
        var written = new HashSet<string>(Own);
        if (exception is not EsbException)
            written.Remove("code"); // that of the entry
        foreach (var (name, value) in values)
        {
            var key = JsonNamingPolicy.CamelCase.ConvertName(name);
            if (name.StartsWith('{') || !written.Add(key))
                continue;
            WriteValue(key, value, json);
        }
    }

    private static void WriteValue(string key, object? value, Utf8JsonWriter json)
    {
        switch (value)
        {
            case null:
                json.WriteNull(key);
                break;
            case int or long or short or byte:
                json.WriteNumber(key, Convert.ToInt64(value, System.Globalization.CultureInfo.InvariantCulture));
                break;
            case bool flag:
                json.WriteBoolean(key, flag);
                break;
            default:
                json.WriteString(key, MaskedFlow.Clean(Convert.ToString(value, System.Globalization.CultureInfo.InvariantCulture) ?? ""));
                break;
        }
    }

    // As in lines of text, the stack is of use only where the failure was not foreseen.
    private static void WriteException(Exception exception, Utf8JsonWriter json)
    {
        if (exception is EsbException fault)
            json.WriteString("code", fault.Code);
        json.WriteString("exception", MaskedFlow.Clean(exception.Message));
        if (exception is not EsbException)
            json.WriteString("stack", MaskedFlow.Clean(exception.ToString()));
    }
}
