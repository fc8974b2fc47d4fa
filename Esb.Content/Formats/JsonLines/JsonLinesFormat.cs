using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Esb.Content.Json;
using Esb.Core.Errors;

namespace Esb.Content.Formats.JsonLines;

/// <summary>One JSON value on each line (JSON Lines, NDJSON), in UTF-8. Lines of blanks are no records.</summary>
internal sealed class JsonLinesFormat(string name, JsonLinesFormatConfig config) : IMessageFormat
{
    private readonly FormatText _text = new(name, Encoding.UTF8);
    private readonly byte[] _lineEnd = config.LineEnd == LineEnd.Lf ? "\n"u8.ToArray() : "\r\n"u8.ToArray();

    public string Name => name;

    public string ContentType => "application/x-ndjson";

    public bool IsList => true;

    public bool HasRecords => true;

    public void Read(ReadOnlyMemory<byte> text, Utf8JsonWriter json)
    {
        var lines = new TextLines(name, new TextWindow(_text.Decode(text)), config.MaxLine.Bytes);
        var isEmpty = true;
        json.WriteStartArray();
        while (lines.Read())
        {
            if (IsBlank(lines.Text.Span))
                continue;
            isEmpty = false;
            WriteValue(lines, json);
        }

        if (isEmpty && config.Empty == EmptyText.Refuse)
            throw FormatFaults.Empty(name);
        json.WriteEndArray();
    }

    public bool CanStream => true;

    public IEnumerable<FormatRecord> ReadRecords(ReadOnlyMemory<byte> text) => ReadRecords(() => new TextWindow(_text.Decode(text)));

    public IEnumerable<FormatRecord> ReadRecords(Stream text) => ReadRecords(() => _text.Open(text));

    private IEnumerable<FormatRecord> ReadRecords(Func<TextWindow> open)
    {
        var lines = new TextLines(name, open(), config.MaxLine.Bytes);
        var record = new RecordJson();
        var isEmpty = true;
        while (lines.Read())
        {
            if (IsBlank(lines.Text.Span))
                continue;
            isEmpty = false;
            yield return record.Make(lines.Line, lines.Text, json => WriteValue(lines, json));
        }

        if (isEmpty && config.Empty == EmptyText.Refuse)
            throw FormatFaults.Empty(name);
    }

    public void Write(JsonElement value, IBufferWriter<byte> output)
    {
        if (value.ValueKind != JsonValueKind.Array)
        {
            WriteLine(value, output);
            return;
        }

        if (value.GetArrayLength() == 0 && config.Empty == EmptyText.Refuse)
            throw FormatFaults.Empty(name);
        foreach (var item in value.EnumerateArray())
            WriteLine(item, output);
    }

    // As it was written, unless that takes several lines.
    private void WriteLine(JsonElement value, IBufferWriter<byte> output)
    {
        var raw = JsonMarshal.GetRawUtf8Value(value);
        if (raw.IndexOfAny((byte)'\r', (byte)'\n') < 0)
        {
            output.Write(raw);
        }
        else
        {
            using var json = new Utf8JsonWriter(output, FormatJson.Options);
            value.WriteTo(json);
        }

        output.Write(_lineEnd);
    }

    private void WriteValue(TextLines lines, Utf8JsonWriter json)
    {
        var value = lines.Text.Span.Trim(" \t"u8);
        var reader = new Utf8JsonReader(value, new JsonReaderOptions { MaxDepth = JsonInput.MaxDepth - 1 }); // the array is a level too
        try
        {
            while (reader.Read()) { }
        }
        catch (JsonException ex)
        {
            var column = (int)(ex.BytePositionInLine ?? 0) + 1;
            throw new FormatFaultException(
                "ESB-FLAT-FORMAT",
                $"{name}, line {lines.Line}, column {column}: expected one JSON value, found \"{FormatFaults.Show(value)}\".",
                FaultKind.Malformed,
                lines.Line,
                column,
                ex
            )
            {
                IsOfRecord = true,
            };
        }

        json.WriteRawValue(value, skipInputValidation: true);
    }

    private static bool IsBlank(ReadOnlySpan<byte> line) => line.Trim(" \t"u8).IsEmpty;
}
