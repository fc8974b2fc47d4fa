using System.Buffers;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Esb.Content.Formats.Fields;

namespace Esb.Content.Formats.Csv;

/// <summary>Writes JSON objects as records, in UTF-8, with quotes only where they are needed. One writer for one text; not
/// thread-safe.</summary>
internal sealed class CsvWriter(CsvLayout layout, IBufferWriter<byte> output)
{
    private readonly ArrayBufferWriter<byte> _field = new();

    /// <summary>Writes an array of objects, or one object as the only record.</summary>
    public void Write(JsonElement value)
    {
        if (value.ValueKind is not (JsonValueKind.Array or JsonValueKind.Object))
            throw FormatFaults.Unwritable(layout.Name, 1, null, "expected an array of objects, or an object");
        var columns = ColumnsOf(value);
        if (layout.HasHeader && columns.Count > 0)
            WriteHeader(columns);
        if (value.ValueKind == JsonValueKind.Object)
            WriteRecord(value, columns, 1);
        else
            WriteRecords(value, columns);
    }

    private void WriteRecords(JsonElement records, List<CsvColumn> columns)
    {
        var number = 0;
        foreach (var record in records.EnumerateArray())
            WriteRecord(record, columns, ++number);
        if (number == 0 && layout.RefusesEmpty)
            throw FormatFaults.Empty(layout.Name);
    }

    // The columns of the format, and behind them what the records name beside these, in the order of its first appearance.
    private List<CsvColumn> ColumnsOf(JsonElement value)
    {
        var columns = layout.Columns.ToList();
        if (columns.Count > 0 && layout.Extra != ExtraColumns.Keep)
            return columns;
        var known = columns.Select(column => column.Name).ToHashSet();
        var records = value.ValueKind == JsonValueKind.Array ? value.EnumerateArray().AsEnumerable() : [value];
        foreach (var record in records.Where(record => record.ValueKind == JsonValueKind.Object))
        {
            foreach (var member in record.EnumerateObject())
            {
                if (known.Add(member.Name))
                    columns.Add(new CsvColumn(member.Name, TextField.Instance, IsOptional: true));
            }
        }

        return columns;
    }

    private void WriteHeader(List<CsvColumn> columns)
    {
        for (var i = 0; i < columns.Count; i++)
        {
            if (i > 0)
                output.Write([layout.Delimiter]);
            WriteField(columns[i].Bytes, isText: false, isAlone: columns.Count == 1);
        }

        output.Write(layout.LineEnd.Span);
    }

    private void WriteRecord(JsonElement record, List<CsvColumn> columns, int number)
    {
        if (record.ValueKind != JsonValueKind.Object)
            throw FormatFaults.Unwritable(layout.Name, number, null, "expected an object");
        if (layout is { Extra: ExtraColumns.Refuse, Columns.Count: > 0 })
            RefuseExtra(record, columns, number);
        for (var i = 0; i < columns.Count; i++)
        {
            if (i > 0)
                output.Write([layout.Delimiter]);
            var column = columns[i];
            _field.ResetWrittenCount();
            if (record.TryGetProperty(column.Bytes, out var value) && value.ValueKind != JsonValueKind.Null)
                WriteValue(column, value, number);
            else if (!column.IsOptional && !column.Type.HasEmpty)
                throw FormatFaults.Unwritable(layout.Name, number, column.Name, $"expected {column.Type.Expected}, found nothing");
            WriteField(
                _field.WrittenSpan,
                isText: column.Type.HasEmpty && value.ValueKind == JsonValueKind.String,
                isAlone: columns.Count == 1
            );
        }

        output.Write(layout.LineEnd.Span);
    }

    private void WriteValue(CsvColumn column, JsonElement value, int number)
    {
        var isEmpty = value.ValueKind == JsonValueKind.String && JsonMarshal.GetRawUtf8Value(value).Length == 2;
        if (isEmpty && column.IsOptional)
            return;
        if (!column.Type.TryWrite(value, _field))
            throw FormatFaults.Unwritable(
                layout.Name,
                number,
                column.Name,
                $"expected {column.Type.Expected}, found {FormatFaults.Show(JsonMarshal.GetRawUtf8Value(value))}"
            );
    }

    private void RefuseExtra(JsonElement record, List<CsvColumn> columns, int number)
    {
        foreach (var member in record.EnumerateObject())
        {
            if (!columns.Exists(column => member.NameEquals(column.Bytes)))
                throw FormatFaults.Unwritable(
                    layout.Name,
                    number,
                    FormatFaults.Show(Encoding.UTF8.GetBytes(member.Name)),
                    "the format has no such column"
                );
        }
    }

    // A record with one empty field alone would be an empty line, which is no record.
    private void WriteField(ReadOnlySpan<byte> field, bool isText, bool isAlone)
    {
        var isFormula =
            isText
            && layout.Formulas != FormulaTexts.Keep
            && field is [(byte)'=' or (byte)'+' or (byte)'-' or (byte)'@' or (byte)'\t' or (byte)'\r', ..];
        if (!isFormula && !(isAlone && field.IsEmpty) && field.IndexOfAny(layout.Quoted) < 0)
        {
            output.Write(field);
            return;
        }

        output.Write([layout.Quote]);
        if (isFormula && layout.Formulas == FormulaTexts.Prefix)
            output.Write("'"u8);
        while (field.IndexOfAny(layout.Quote, layout.Escape) is var special and >= 0)
        {
            output.Write(field[..special]);
            output.Write([layout.Escape, field[special]]);
            field = field[(special + 1)..];
        }

        output.Write(field);
        output.Write([layout.Quote]);
    }
}
