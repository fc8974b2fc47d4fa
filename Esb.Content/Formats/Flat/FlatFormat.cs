using System.Buffers;
using System.Text.Json;

namespace Esb.Content.Formats.Flat;

/// <summary>Records of positional or delimited fields, known by tags, within one another.</summary>
internal sealed class FlatFormat(FlatLayout layout) : IMessageFormat
{
    private readonly bool _hasItem = HasItem(layout.Root);

    public string Name => layout.Name;

    public string ContentType => $"text/plain; charset={layout.Text.Charset}";

    public bool IsList => false;

    public bool HasRecords => _hasItem;

    public void Read(ReadOnlyMemory<byte> text, Utf8JsonWriter json)
    {
        var reader = new FlatReader(layout, layout.Text.Decode(text), json, items: null);
        reader.Read();
    }

    public bool CanStream => false;

    public IEnumerable<FormatRecord> ReadRecords(Stream text) =>
        throw new NotSupportedException("A flat file is read as a whole, since its trailer decides on its records.");

    public IEnumerable<FormatRecord> ReadRecords(ReadOnlyMemory<byte> text)
    {
        var items = new List<FormatRecord>();
        var buffer = new ArrayBufferWriter<byte>();
        FormatFaultException? end = null;
        using (var json = new Utf8JsonWriter(buffer, FormatJson.Options))
        {
            try
            {
                new FlatReader(layout, layout.Text.Decode(text), json, new FlatItems(json, buffer, items)).Read();
            }
            catch (FormatFaultException ex)
            {
                end = ex; // after the items before it
            }
        }

        foreach (var item in items)
            yield return item;
        if (end is not null)
            throw end;
    }

    public void Write(JsonElement value, IBufferWriter<byte> output)
    {
        if (layout.Text.IsUtf8)
        {
            new FlatWriter(layout, output).Write(value);
            return;
        }

        var text = new ArrayBufferWriter<byte>();
        new FlatWriter(layout, text).Write(value);
        layout.Text.Encode(text.WrittenSpan, output);
    }

    private static bool HasItem(FlatLevel level) => level.Records.Any(record => record.IsItem || HasItem(record.Level));
}
