using System.Buffers;
using System.Data.Common;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Esb.Endpoints.Sql;

/// <summary>Rows as a JSON array of objects: numbers, booleans and null as such, JSON columns verbatim, arrays as arrays, everything else
/// as text.</summary>
internal sealed class JsonRows : IRowsWriter
{
    private static readonly JsonWriterOptions Options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    private readonly ArrayBufferWriter<byte> _buffer = new(1024);
    private readonly Utf8JsonWriter _writer;
    private readonly JsonEncodedText[] _names;
    private bool[]? _isJson;

    public JsonRows(IReadOnlyList<string> columns)
    {
        _names = [.. columns.Select(name => JsonEncodedText.Encode(name, JavaScriptEncoder.UnsafeRelaxedJsonEscaping))];
        _writer = new Utf8JsonWriter(_buffer, Options);
        _writer.WriteStartArray();
    }

    public long Length => _writer.BytesCommitted + _writer.BytesPending;

    public void Write(DbDataReader reader)
    {
        _isJson ??=
        [
            .. Enumerable
                .Range(0, reader.FieldCount)
                .Select(column =>
                    reader.GetDataTypeName(column) is var type
                    && (type.Equals("json", StringComparison.OrdinalIgnoreCase) || type == "jsonb")
                ),
        ];
        _writer.WriteStartObject();
        for (var column = 0; column < _names.Length; column++)
        {
            _writer.WritePropertyName(_names[column]);
            Write(reader, column);
        }

        _writer.WriteEndObject();
    }

    public ReadOnlyMemory<byte> Finish()
    {
        _writer.WriteEndArray();
        _writer.Flush();
        return _buffer.WrittenMemory;
    }

    public void Dispose() => _writer.Dispose();

    // Writes the common types without boxing.
    private void Write(DbDataReader reader, int column)
    {
        if (reader.IsDBNull(column))
            _writer.WriteNullValue();
        else if (_isJson![column])
            _writer.WriteRawValue(reader.GetString(column));
        else if (reader.GetFieldType(column) is var type && type == typeof(string))
            _writer.WriteStringValue(reader.GetString(column));
        else if (type == typeof(int))
            _writer.WriteNumberValue(reader.GetInt32(column));
        else if (type == typeof(long))
            _writer.WriteNumberValue(reader.GetInt64(column));
        else if (type == typeof(Guid))
            _writer.WriteStringValue(reader.GetGuid(column));
        else
            Write(reader.GetValue(column));
    }

    private void Write(object? value)
    {
        switch (value)
        {
            case null or DBNull:
                _writer.WriteNullValue();
                break;
            case bool flag:
                _writer.WriteBooleanValue(flag);
                break;
            case short or int or long:
                _writer.WriteNumberValue(Convert.ToInt64(value, null));
                break;
            case decimal number:
                _writer.WriteNumberValue(number);
                break;
            case double number when double.IsFinite(number):
                _writer.WriteNumberValue(number);
                break;
            case float number when float.IsFinite(number):
                _writer.WriteNumberValue(number);
                break;
            case byte[] bytes:
                _writer.WriteBase64StringValue(bytes);
                break;
            case Array { Rank: 1 } items:
                Write(items);
                break;
            default:
                _writer.WriteStringValue(ColumnText.Of(value));
                break;
        }
    }

    private void Write(Array items)
    {
        _writer.WriteStartArray();
        foreach (var item in items)
            Write(item);
        _writer.WriteEndArray();
    }
}
