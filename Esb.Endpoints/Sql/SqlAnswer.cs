using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Xml;

namespace Esb.Endpoints.Sql;

/// <summary>An answer with several result sets and output values, as JSON or XML. Used by one call.</summary>
internal sealed class SqlAnswer(RowsFormat format)
{
    private static readonly JsonWriterOptions Options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    private readonly List<ReadOnlyMemory<byte>> _results = [];
    private ReadOnlyMemory<byte>? _out;

    /// <summary>The number of result sets.</summary>
    public int Count => _results.Count;

    /// <summary>The bytes so far.</summary>
    public long Length => _results.Sum(rows => (long)rows.Length);

    /// <summary>Adds a result set.</summary>
    public void Add(ReadOnlyMemory<byte> rows) => _results.Add(rows);

    /// <summary>Sets the output values: rows of which the first counts.</summary>
    public void SetOut(ReadOnlyMemory<byte> row) => _out = row;

    /// <summary>The only result set.</summary>
    public ReadOnlyMemory<byte> Single => _results[0];

    /// <summary>All of it: <c>{ "results": [[…], […]], "out": { … } }</c>, or an element <c>answer</c>.</summary>
    public ReadOnlyMemory<byte> Finish() => format == RowsFormat.Json ? ToJson() : ToXml();

    private ReadOnlyMemory<byte> ToJson()
    {
        var buffer = new ArrayBufferWriter<byte>((int)Length + 256);
        using var writer = new Utf8JsonWriter(buffer, Options);
        writer.WriteStartObject();
        writer.WriteStartArray("results");
        foreach (var rows in _results)
            writer.WriteRawValue(rows.Span, skipInputValidation: true);
        writer.WriteEndArray();
        writer.WritePropertyName("out");
        if (_out is { Length: > 2 } row)
            writer.WriteRawValue(row.Span[1..^1], skipInputValidation: true);
        else
            writer.WriteRawValue("{}"u8, skipInputValidation: true);
        writer.WriteEndObject();
        writer.Flush();
        return buffer.WrittenMemory;
    }

    private ReadOnlyMemory<byte> ToXml()
    {
        var buffer = new MemoryStream();
        using (
            var writer = XmlWriter.Create(
                buffer,
                new XmlWriterSettings { Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false) }
            )
        )
        {
            writer.WriteStartElement("answer");
            writer.WriteStartElement("results");
            foreach (var rows in _results)
                Copy(rows, writer);
            writer.WriteEndElement();
            writer.WriteStartElement("out");
            if (_out is { } row)
                Copy(row, writer);
            writer.WriteEndElement();
            writer.WriteEndElement();
        }

        return buffer.ToArray();
    }

    // Our own writer made it.
    private static void Copy(ReadOnlyMemory<byte> rows, XmlWriter writer)
    {
        using var reader = XmlReader.Create(
            new MemoryStream(rows.ToArray()),
            new XmlReaderSettings { DtdProcessing = DtdProcessing.Prohibit }
        );
        reader.MoveToContent();
        writer.WriteNode(reader, defattr: false);
    }
}
