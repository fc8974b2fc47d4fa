using System.Data.Common;
using System.Text;
using System.Xml;

namespace Esb.Endpoints.Sql;

/// <summary>Rows as XML: <c>rows</c>, <c>row</c>, and an element named after its column for each value that is not null.</summary>
internal sealed class XmlRows : IRowsWriter
{
    private readonly MemoryStream _buffer = new();
    private readonly XmlWriter _writer;
    private readonly List<string> _names;

    public XmlRows(IReadOnlyList<string> columns)
    {
        _names = [.. columns.Select(XmlConvert.EncodeLocalName).Select(name => name!)];
        _writer = XmlWriter.Create(_buffer, new XmlWriterSettings { Encoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false) });
        _writer.WriteStartElement("rows");
    }

    public long Length => _buffer.Length;

    public void Write(DbDataReader reader)
    {
        _writer.WriteStartElement("row");
        for (var column = 0; column < _names.Count; column++)
        {
            if (!reader.IsDBNull(column))
                Write(_names[column], reader.GetValue(column));
        }

        _writer.WriteEndElement();
    }

    public ReadOnlyMemory<byte> Finish()
    {
        _writer.WriteEndElement();
        _writer.Flush();
        return _buffer.GetBuffer().AsMemory(0, (int)_buffer.Length);
    }

    public void Dispose() => _writer.Dispose();

    // An array repeats its element.
    private void Write(string name, object value)
    {
        if (value is not Array items || value is byte[])
        {
            _writer.WriteElementString(name, ColumnText.Of(value));
            return;
        }

        foreach (var item in items)
        {
            if (item is not null)
                Write(name, item);
        }
    }
}
