using System.Buffers;
using System.Text.Json;

namespace Esb.Content.Formats;

/// <summary>Makes records one by one, in a buffer that is used again. Not thread-safe.</summary>
internal sealed class RecordJson
{
    private readonly ArrayBufferWriter<byte> _bytes = new();
    private readonly Utf8JsonWriter _json;

    public RecordJson() => _json = new Utf8JsonWriter(_bytes, FormatJson.Options);

    /// <summary>Makes a record of what is written; a fault of that record alone becomes its fault.</summary>
    public FormatRecord Make(int line, ReadOnlyMemory<byte> text, Action<Utf8JsonWriter> write)
    {
        _bytes.ResetWrittenCount();
        _json.Reset();
        try
        {
            write(_json);
            _json.Flush();
            return new FormatRecord(line, _bytes.WrittenSpan.ToArray(), text, null);
        }
        catch (FormatFaultException ex) when (ex.IsOfRecord)
        {
            return new FormatRecord(line, default, text.ToArray(), ex);
        }
    }
}
