using System.Globalization;
using System.Text;
using System.Text.Json;
using Esb.Content.Formats.Fields;

namespace Esb.Content.Formats.Flat;

/// <summary>Reads one flat text as JSON: records by their tags, in the order and number of the layout, then counts and sums. Not
/// thread-safe.</summary>
internal sealed class FlatReader(FlatLayout layout, TextWindow text, Utf8JsonWriter json, FlatItems? items)
{
    private readonly FlatRecords _records = new(layout, text);
    private readonly decimal[] _counts = new decimal[layout.RecordCount];
    private readonly decimal[] _sums = new decimal[layout.SumCount];
    private bool _has;

    /// <summary>Writes the whole text.</summary>
    public void Read()
    {
        Begin();
        json.WriteStartObject();
        if (_has)
            ReadLevel(layout.Root);
        End();
        json.WriteEndObject();
    }

    /// <summary>Reads the text as far as the items are asked for.</summary>
    public IEnumerable<FormatRecord> ReadItems()
    {
        Begin();
        if (_has)
        {
            foreach (var item in ItemsOf(layout.Root))
                yield return item;
        }

        End();
    }

    private void Begin()
    {
        _has = _records.Read();
        if (!_has && layout.RefusesEmpty)
            throw FormatFaults.Empty(layout.Name);
    }

    private void End()
    {
        if (_has)
            throw FormatFaults.Record(layout.Name, _records.Line, $"unexpected record \"{FormatFaults.Show(_records.Text.Span)}\"");
    }

    // Around items, no JSON is kept.
    private IEnumerable<FormatRecord> ItemsOf(FlatLevel level)
    {
        var scope = ScopeOf(level);
        foreach (var record in level.Records)
        {
            var count = 0;
            for (; IsNext(record, count); count++)
            {
                if (record.IsItem)
                {
                    yield return ReadItem(record, scope);
                    continue;
                }

                ReadAround(record, scope);
                if (record.Level.Records.Count == 0)
                    continue;
                foreach (var item in ItemsOf(record.Level))
                    yield return item;
            }

            Require(record, count);
        }

        if (scope is not null)
            CheckTotals(scope);
    }

    private FormatRecord ReadItem(FlatRecord record, Scope? scope)
    {
        items!.Begin(_records.Line);
        ReadRecord(record, scope);
        return items.End();
    }

    private void ReadAround(FlatRecord record, Scope? scope)
    {
        _counts[record.Index]++;
        ReadFields(record, scope);
        items!.Drop();
        _has = _records.Read();
    }

    private void ReadLevel(FlatLevel level)
    {
        var scope = ScopeOf(level);
        foreach (var record in level.Records)
            ReadRecords(record, scope);
        if (scope is not null)
            CheckTotals(scope);
    }

    private Scope? ScopeOf(FlatLevel level) => level.HasChecks ? new Scope((decimal[])_counts.Clone(), (decimal[])_sums.Clone(), []) : null;

    private void ReadRecords(FlatRecord record, Scope? scope)
    {
        if (record.Repeats)
        {
            json.WriteStartArray(record.Member);
            ReadOccurrences(record, scope, isMember: false);
            json.WriteEndArray();
        }
        else
        {
            ReadOccurrences(record, scope, isMember: true);
        }
    }

    private void ReadOccurrences(FlatRecord record, Scope? scope, bool isMember)
    {
        var count = 0;
        for (; IsNext(record, count); count++)
        {
            if (isMember)
                json.WritePropertyName(record.Member);
            ReadRecord(record, scope);
        }

        Require(record, count);
    }

    private bool IsNext(FlatRecord record, int count) => _has && count < record.Maximum && IsA(record, _records.Text.Span);

    private void Require(FlatRecord record, int count)
    {
        if (count >= record.Minimum)
            return;
        var found = _has ? $"found \"{FormatFaults.Show(_records.Text.Span)}\"" : "found the end of the text";
        throw FormatFaults.Record(layout.Name, _has ? _records.Line : _records.Line + 1, $"expected record {record.Description}, {found}");
    }

    private void ReadRecord(FlatRecord record, Scope? scope)
    {
        items?.Keep(_records.Text.Span, isLine: layout.Length is null);
        _counts[record.Index]++;
        json.WriteStartObject();
        ReadFields(record, scope);
        _has = _records.Read();
        if (record.Level.Records.Count > 0)
            ReadLevel(record.Level);
        json.WriteEndObject();
    }

    private bool IsA(FlatRecord record, ReadOnlySpan<byte> line)
    {
        if (record.Tag.Length == 0)
            return true;
        if (record.Delimiter is { } delimiter)
        {
            for (var skipped = 0; skipped < record.TagAt; skipped++)
            {
                var next = line.IndexOf(delimiter);
                if (next < 0)
                    return false;
                line = line[(next + 1)..];
            }

            var end = line.IndexOf(delimiter);
            return (end < 0 ? line : line[..end]).SequenceEqual(record.Tag);
        }

        var at = record.TagAt == 0 ? 0 : FlatRecords.BytesOf(line, record.TagAt);
        return line[at..].StartsWith(record.Tag);
    }

    private void ReadFields(FlatRecord record, Scope? scope)
    {
        try
        {
            if (record.Delimiter is { } delimiter)
                ReadDelimited(record, delimiter, scope);
            else
                ReadPositional(record, scope);
        }
        catch (FormatFaultException ex) when (items?.Take(ex) == true)
        {
            // the item has a fault; its records are read to their end
        }
    }

    private void ReadPositional(FlatRecord record, Scope? scope)
    {
        var line = _records.Text.Span;
        var isAscii = Ascii.IsValid(line);
        var width = isAscii ? line.Length : CountCharacters(line);
        if (width != record.Width)
            throw FormatFaults.Width(layout.Name, _records.Line, record.Width, width);
        var (column, at) = (0, 0);
        foreach (var field in record.Fields)
        {
            if (column == record.TagAt && record.Tag.Length > 0)
                SkipTag(record, ref column, ref at);
            var length = isAscii ? field.Length : FlatRecords.BytesOf(line[at..], field.Length);
            ReadField(record, field, line.Slice(at, length), column + 1, scope);
            (column, at) = (column + field.Length, at + length);
        }
    }

    private static void SkipTag(FlatRecord record, ref int column, ref int at) =>
        (column, at) = (column + CountCharacters(record.Tag), at + record.Tag.Length);

    private void ReadDelimited(FlatRecord record, byte delimiter, Scope? scope)
    {
        var line = _records.Text.Span;
        var expected = record.Fields.Count + (record.Tag.Length > 0 ? 1 : 0);
        var found = line.Count(delimiter) + 1;
        if (expected == 0 && line.IsEmpty)
            found = 0;
        var missing = expected - found;
        if (missing < 0 || record.Fields.TakeLast(missing).Any(field => !field.IsOptional))
            throw FormatFaults.Columns(layout.Name, _records.Line, expected, found);
        var (number, at) = (0, 0);
        for (var piece = 0; piece < found; piece++)
        {
            var length = line[at..].IndexOf(delimiter);
            if (length < 0)
                length = line.Length - at;
            if (record.Tag.Length == 0 || piece != record.TagAt)
                ReadField(record, record.Fields[number++], line.Slice(at, length), at + 1, scope);
            at += length + 1;
        }
    }

    private void ReadField(FlatRecord record, FlatField field, ReadOnlySpan<byte> value, int column, Scope? scope)
    {
        if (field.IsFiller)
            return;
        var written = value;
        value = Trim(field, value);
        if (value.IsEmpty && field.Default is not null)
            value = field.Default;
        if (items is { IsInside: false })
            items.Surround(record.Name, field.Name, value);
        if (value.IsEmpty && !field.Type.HasEmpty && field.IsOptional)
            return;
        json.WritePropertyName(field.Member);
        if (!field.Type.TryRead(value, json))
            throw FormatFaults.Value(layout.Name, _records.Line, column, field.Name, written, field.Type.Expected);
        if (field.Sum is { } sum)
            _sums[sum] += NumberOf(field, value, column);
        if (field.Check is { } check && scope is not null)
            scope.Pending.Add((field, check, NumberOf(field, value, column), _records.Line));
    }

    private decimal NumberOf(FlatField field, ReadOnlySpan<byte> value, int column) =>
        ((NumberField)field.Type).TryGet(value, out var number)
            ? number
            : throw FormatFaults.Value(layout.Name, _records.Line, column, field.Name, value, "a number of at most 28 digits");

    // Zeros in front belong to a number, and may be all there is of it.
    private static ReadOnlySpan<byte> Trim(FlatField field, ReadOnlySpan<byte> value)
    {
        if (!field.Trims || (field.Pad == '0' && field.Type is NumberField))
            return value;
        return field.IsRight ? value.TrimStart(field.Pad) : value.TrimEnd(field.Pad);
    }

    private void CheckTotals(Scope scope)
    {
        foreach (var (field, check, stated, line) in scope.Pending)
        {
            if (check.Field is not null && items is { HasFaults: true })
                continue; // the sum lacks the faulty items
            var counted = check.Field is null
                ? _counts[check.Index] - scope.Counts[check.Index]
                : _sums[check.Index] - scope.Sums[check.Index];
            if (counted != stated)
                throw FormatFaults.Count(
                    layout.Name,
                    line,
                    field.Name,
                    string.Create(CultureInfo.InvariantCulture, $"{check} is {counted}, the field says {stated}")
                );
        }
    }

    private static int CountCharacters(ReadOnlySpan<byte> text)
    {
        var count = 0;
        foreach (var each in text)
        {
            if ((each & 0xC0) != 0x80)
                count++;
        }

        return count;
    }

    /// <summary>The totals before a level, and the fields that state its own.</summary>
    private sealed record Scope(
        decimal[] Counts,
        decimal[] Sums,
        List<(FlatField Field, FlatCheck Check, decimal Stated, int Line)> Pending
    );
}
