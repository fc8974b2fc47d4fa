using System.Buffers;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Esb.Content.Formats.Fields;

namespace Esb.Content.Formats.Flat;

/// <summary>Writes a JSON object as a flat text, in UTF-8. Counts and sums that are missing are filled in; those that are there must be
/// right. Not thread-safe.</summary>
internal sealed class FlatWriter(FlatLayout layout, IBufferWriter<byte> output)
{
    private readonly ArrayBufferWriter<byte> _field = new();
    private readonly ArrayBufferWriter<byte> _line = new();
    private int _number;

    public void Write(JsonElement value)
    {
        if (value.ValueKind != JsonValueKind.Object)
            throw FormatFaults.Unwritable(layout.Name, 1, null, "expected an object with the records of the format");
        if (layout.RefusesEmpty && !value.EnumerateObject().Any())
            throw FormatFaults.Empty(layout.Name);
        WriteLevel(layout.Root, value, isFieldless: true);
    }

    private void WriteLevel(FlatLevel level, JsonElement parent, bool isFieldless)
    {
        if (isFieldless)
            RefuseUnknown(level, [], parent);
        foreach (var record in level.Records)
        {
            var count = 0;
            foreach (var instance in InstancesOf(record, parent))
            {
                count++;
                WriteRecord(record, instance, level, parent);
            }

            if (count < record.Minimum || count > record.Maximum)
                throw FormatFaults.Unwritable(
                    layout.Name,
                    _number + 1,
                    null,
                    $"expected {RangeOf(record)} of record {record.Name}, found {count}"
                );
        }
    }

    private static string RangeOf(FlatRecord record)
    {
        if (record.Maximum == int.MaxValue)
            return $"{record.Minimum} or more";
        return record.Maximum > record.Minimum ? $"{record.Minimum} to {record.Maximum}" : $"{record.Minimum}";
    }

    // XML cannot tell one element from an array of one.
    private static IEnumerable<JsonElement> InstancesOf(FlatRecord record, JsonElement parent)
    {
        if (
            parent.ValueKind != JsonValueKind.Object
            || !parent.TryGetProperty(record.Name, out var value)
            || value.ValueKind == JsonValueKind.Null
        )
            return [];
        return value.ValueKind == JsonValueKind.Array ? value.EnumerateArray().AsEnumerable() : [value];
    }

    private void WriteRecord(FlatRecord record, JsonElement value, FlatLevel level, JsonElement parent)
    {
        _number++;
        var isEmpty = value.ValueKind == JsonValueKind.String && JsonMarshal.GetRawUtf8Value(value).Length == 2; // an empty element of XML
        if (value.ValueKind != JsonValueKind.Object && !isEmpty)
            throw FormatFaults.Unwritable(layout.Name, _number, record.Name, "expected an object");
        if (!isEmpty)
            RefuseUnknown(record.Level, record.Fields, value);
        _line.ResetWrittenCount();
        var column = 0;
        var isFirst = true;
        for (var i = 0; i <= record.Fields.Count; i++)
        {
            if (record.Tag.Length > 0 && (record.Delimiter is null ? column : i) == record.TagAt)
            {
                Separate(record, ref isFirst);
                _line.Write(record.Tag);
            }

            if (i == record.Fields.Count)
                break;
            Separate(record, ref isFirst);
            WriteField(record, record.Fields[i], value, level, parent);
            column += record.Fields[i].Length;
        }

        if (layout.Length is { } length && _line.WrittenCount != length && layout.Text.IsUtf8)
            throw FormatFaults.Unwritable(layout.Name, _number, null, $"the record has {_line.WrittenCount} bytes, expected {length}");
        output.Write(_line.WrittenSpan);
        output.Write(layout.LineEnd.Span);
        if (!isEmpty)
            WriteLevel(record.Level, value, isFieldless: false);
        else
            WriteLevel(record.Level, default, isFieldless: false);
    }

    private void Separate(FlatRecord record, ref bool isFirst)
    {
        if (!isFirst && record.Delimiter is { } delimiter)
            _line.Write([delimiter]);
        isFirst = false;
    }

    private void WriteField(FlatRecord record, FlatField field, JsonElement value, FlatLevel level, JsonElement parent)
    {
        _field.ResetWrittenCount();
        if (
            !field.IsFiller
            && value.ValueKind == JsonValueKind.Object
            && value.TryGetProperty(field.Name, out var found)
            && found.ValueKind != JsonValueKind.Null
            && !IsAbsent(field, found)
        )
        {
            if (!field.Type.TryWrite(found, _field))
                throw FormatFaults.Unwritable(
                    layout.Name,
                    _number,
                    field.Name,
                    $"expected {field.Type.Expected}, found {FormatFaults.Show(JsonMarshal.GetRawUtf8Value(found))}"
                );
            if (field.Check is { } check)
                CheckTotal(field, check, level, parent);
        }
        else if (field.Check is { } missing)
        {
            using var total = JsonDocument.Parse(TotalOf(missing, level, parent).ToString(CultureInfo.InvariantCulture));
            field.Type.TryWrite(total.RootElement, _field);
        }
        else if (field.Default is { } standard)
        {
            _field.Write(standard);
        }
        else if (!field.IsFiller && !field.IsOptional && !field.Type.HasEmpty)
        {
            throw FormatFaults.Unwritable(layout.Name, _number, field.Name, $"expected {field.Type.Expected}, found nothing");
        }

        if (record.Delimiter is { } delimiter)
            WriteDelimited(field, delimiter);
        else
            WritePadded(field);
    }

    private static bool IsAbsent(FlatField field, JsonElement value) =>
        field.IsOptional && value.ValueKind == JsonValueKind.String && JsonMarshal.GetRawUtf8Value(value).Length == 2;

    private void WriteDelimited(FlatField field, byte delimiter)
    {
        RefuseLineEnds(field);
        if (_field.WrittenSpan.Contains(delimiter))
            throw FormatFaults.Unwritable(layout.Name, _number, field.Name, "the value has the delimiter in it");
        _line.Write(_field.WrittenSpan);
    }

    private void WritePadded(FlatField field)
    {
        RefuseLineEnds(field);
        var value = _field.WrittenSpan;
        var missing = field.Length - Encoding.UTF8.GetCharCount(value);
        if (missing < 0)
            throw FormatFaults.Unwritable(
                layout.Name,
                _number,
                field.Name,
                $"the value has {field.Length - missing} characters, expected at most {field.Length}"
            );
        if (field.IsRight)
        {
            if (field.Pad == '0' && field.Type is NumberField && value is [(byte)'-', ..])
            {
                _line.Write("-"u8);
                value = value[1..];
            }

            Pad(field, missing);
        }

        _line.Write(value);
        if (!field.IsRight)
            Pad(field, missing);
    }

    private void Pad(FlatField field, int count)
    {
        _line.GetSpan(count)[..count].Fill(field.Pad);
        _line.Advance(count);
    }

    private void RefuseLineEnds(FlatField field)
    {
        if (_field.WrittenSpan.IndexOfAny((byte)'\r', (byte)'\n') >= 0)
            throw FormatFaults.Unwritable(layout.Name, _number, field.Name, "the value has a line end in it");
    }

    private void RefuseUnknown(FlatLevel level, IReadOnlyList<FlatField> fields, JsonElement value)
    {
        foreach (var member in value.EnumerateObject())
        {
            if (
                fields.Any(field => !field.IsFiller && member.NameEquals(field.Name))
                || level.Records.Any(record => member.NameEquals(record.Name))
            )
                continue;
            throw FormatFaults.Unwritable(
                layout.Name,
                Math.Max(1, _number),
                FormatFaults.Show(Encoding.UTF8.GetBytes(member.Name)),
                "the format has no such field or record here"
            );
        }
    }

    private void CheckTotal(FlatField field, FlatCheck check, FlatLevel level, JsonElement parent)
    {
        var total = TotalOf(check, level, parent);
        if (((NumberField)field.Type).TryGet(_field.WrittenSpan, out var stated) && stated == total)
            return;
        throw FormatFaults.Count(
            layout.Name,
            _number,
            field.Name,
            string.Create(CultureInfo.InvariantCulture, $"{check} is {total}, the field says {stated}")
        );
    }

    private static decimal TotalOf(FlatCheck check, FlatLevel level, JsonElement parent)
    {
        var total = 0m;
        foreach (var record in level.Records)
        {
            foreach (var instance in InstancesOf(record, parent))
            {
                if (record.Name == check.Record)
                    total += check.Field is null ? 1 : NumberAt(instance, check.Field);
                total += TotalOf(check, record.Level, instance);
            }
        }

        return total;
    }

    private static decimal NumberAt(JsonElement record, string field)
    {
        if (record.ValueKind != JsonValueKind.Object || !record.TryGetProperty(field, out var value))
            return 0;
        if (value.ValueKind == JsonValueKind.Number)
            return value.TryGetDecimal(out var number) ? number : 0;
        return
            value.ValueKind == JsonValueKind.String
            && decimal.TryParse(value.GetString(), NumberStyles.Number, CultureInfo.InvariantCulture, out var text)
            ? text
            : 0;
    }
}
