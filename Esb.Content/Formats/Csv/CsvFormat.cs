using System.Buffers;
using System.Text.Json;

namespace Esb.Content.Formats.Csv;

/// <summary>Comma-separated values (RFC 4180).</summary>
internal sealed class CsvFormat(CsvLayout layout) : IMessageFormat
{
    public CsvLayout Layout => layout;

    public string Name => layout.Name;

    public string ContentType => $"text/csv; charset={layout.Text.Charset}";

    public bool IsList => true;

    public bool HasRecords => true;

    public void Read(ReadOnlyMemory<byte> text, Utf8JsonWriter json)
    {
        var reader = new CsvReader(layout, layout.Text.Decode(text));
        var isEmpty = true;
        json.WriteStartArray();
        if (CsvBinding.Read(layout, reader) is { } binding)
        {
            for (var has = !layout.HasHeader || reader.Read(); has; has = reader.Read())
            {
                isEmpty = false;
                binding.Write(reader, json);
            }
        }

        if (isEmpty && layout.RefusesEmpty)
            throw FormatFaults.Empty(Name);
        json.WriteEndArray();
    }

    public bool CanStream => true;

    public IEnumerable<FormatRecord> ReadRecords(ReadOnlyMemory<byte> text) => ReadRecords(() => new TextWindow(layout.Text.Decode(text)));

    public IEnumerable<FormatRecord> ReadRecords(Stream text) => ReadRecords(() => layout.Text.Open(text));

    private IEnumerable<FormatRecord> ReadRecords(Func<TextWindow> open)
    {
        var reader = new CsvReader(layout, open());
        var isEmpty = true;
        if (CsvBinding.Read(layout, reader) is { } binding)
        {
            var record = new RecordJson();
            for (var has = !layout.HasHeader || reader.Read(); has; has = reader.Read())
            {
                isEmpty = false;
                yield return record.Make(reader.Line, reader.Record, json => binding.Write(reader, json));
            }
        }

        if (isEmpty && layout.RefusesEmpty)
            throw FormatFaults.Empty(Name);
    }

    public void Write(JsonElement value, IBufferWriter<byte> output)
    {
        if (layout.Text.IsUtf8)
        {
            new CsvWriter(layout, output).Write(value);
            return;
        }

        var text = new ArrayBufferWriter<byte>();
        new CsvWriter(layout, text).Write(value);
        layout.Text.Encode(text.WrittenSpan, output);
    }
}
