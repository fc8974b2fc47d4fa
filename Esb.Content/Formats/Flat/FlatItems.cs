using System.Buffers;
using System.Text;
using System.Text.Json;

namespace Esb.Content.Formats.Flat;

/// <summary>Takes the items out of a flat text while it is read. Not thread-safe.</summary>
/// <param name="format">The name of the format.</param>
/// <param name="json">Writes the records of an item.</param>
/// <param name="buffer">Receives them.</param>
/// <param name="most">The most bytes of text that an item may have.</param>
internal sealed class FlatItems(string format, Utf8JsonWriter json, ArrayBufferWriter<byte> buffer, long most)
{
    private readonly List<KeyValuePair<string, string>> _surroundings = [];
    private readonly ArrayBufferWriter<byte> _text = new();
    private IReadOnlyList<KeyValuePair<string, string>>? _copy;
    private FormatFaultException? _fault;
    private int _line;

    /// <summary>True between the beginning and the end of an item.</summary>
    public bool IsInside { get; private set; }

    /// <summary>True if a record had a fault, so that sums are not complete.</summary>
    public bool HasFaults { get; private set; }

    /// <summary>Begins an item.</summary>
    /// <param name="line">The number of its first line.</param>
    public void Begin(int line)
    {
        Drop();
        _text.ResetWrittenCount();
        (IsInside, _fault, _line) = (true, null, line);
    }

    /// <summary>Keeps the text of a record of the item.</summary>
    /// <exception cref="FormatFaultException"><c>ESB-FLAT-ITEM</c>: the item is too long.</exception>
    public void Keep(ReadOnlySpan<byte> record, bool isLine)
    {
        if (_text.WrittenCount + (long)record.Length > most)
            throw FormatFaults.LongItem(format, _line, most);
        if (isLine && _text.WrittenCount > 0)
            _text.Write("\r\n"u8);
        _text.Write(record);
    }

    /// <summary>Notes the first fault of the item; false outside of an item.</summary>
    public bool Take(FormatFaultException fault)
    {
        if (!IsInside || !fault.IsOfRecord)
            return false;
        _fault ??= fault;
        HasFaults = true;
        return true;
    }

    /// <summary>The item, with its text only where it has a fault.</summary>
    public FormatRecord End()
    {
        json.Flush();
        var item = new FormatRecord(
            _line,
            _fault is null ? buffer.WrittenSpan.ToArray() : default,
            _fault is null ? default : _text.WrittenSpan.ToArray(),
            _fault
        )
        {
            Surroundings = _copy ??= [.. _surroundings],
        };
        IsInside = false;
        Drop();
        return item;
    }

    /// <summary>Drops the JSON of records around items.</summary>
    public void Drop()
    {
        json.Flush();
        buffer.ResetWrittenCount();
        json.Reset();
    }

    /// <summary>Notes a field of a record around items; the latest record of each name counts.</summary>
    public void Surround(string record, string field, ReadOnlySpan<byte> value)
    {
        var name = $"{record}.{field}";
        _surroundings.RemoveAll(known => known.Key == name);
        _surroundings.Add(KeyValuePair.Create(name, Encoding.UTF8.GetString(value)));
        _copy = null;
    }
}
