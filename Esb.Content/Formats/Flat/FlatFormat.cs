using System.Buffers;
using System.Text.Json;

namespace Esb.Content.Formats.Flat;

/// <summary>Records of positional or delimited fields, known by tags, within one another.</summary>
/// <param name="layout">The layout.</param>
/// <param name="maxItem">The longest item of a stream, in bytes of UTF-8.</param>
internal sealed class FlatFormat(FlatLayout layout, long maxItem) : IMessageFormat
{
    private readonly bool _hasItem = HasItem(layout.Root);

    public string Name => layout.Name;

    public string ContentType => $"text/plain; charset={layout.Text.Charset}";

    public bool IsList => false;

    public bool HasRecords => _hasItem;

    public void Read(ReadOnlyMemory<byte> text, Utf8JsonWriter json)
    {
        var reader = new FlatReader(layout, new TextWindow(layout.Text.Decode(text)), json, items: null);
        reader.Read();
    }

    // Records without lines are pieces of characters, which only the whole text divides.
    public bool CanStream => layout.Length is null;

    public IEnumerable<FormatRecord> ReadRecords(Stream text) => ReadRecords(() => layout.Text.Open(text), maxItem);

    public IEnumerable<FormatRecord> ReadRecords(ReadOnlyMemory<byte> text) =>
        ReadRecords(() => new TextWindow(layout.Text.Decode(text)), most: long.MaxValue);

    private IEnumerable<FormatRecord> ReadRecords(Func<TextWindow> open, long most)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(buffer, FormatJson.Options);
        foreach (var item in new FlatReader(layout, open(), json, new FlatItems(layout.Name, json, buffer, most)).ReadItems())
            yield return item;
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
