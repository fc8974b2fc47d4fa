using System.Text;
using System.Text.Json;
using Esb.Content.Formats.Fields;

namespace Esb.Content.Formats.Csv;

/// <summary>The columns of one text, by position: of its header, of the format, or of its first record.</summary>
internal sealed class CsvBinding
{
    private readonly CsvLayout _layout;
    private readonly CsvColumn?[] _columns; // null: the column is dropped

    private CsvBinding(CsvLayout layout, CsvColumn?[] columns) => (_layout, _columns) = (layout, columns);

    /// <summary>Reads the header, if there is one; null if the text is empty. Without a header, the reader is at the first
    /// record.</summary>
    public static CsvBinding? Read(CsvLayout layout, CsvReader reader)
    {
        if (!reader.Read())
            return null;
        if (layout.HasHeader)
            return new CsvBinding(layout, Match(layout, NamesOf(layout, reader)));
        return new CsvBinding(
            layout,
            layout.Columns.Count > 0 ? [.. layout.Columns] : [.. Enumerable.Range(1, reader.Count).Select(number => Unnamed($"c{number}"))]
        );
    }

    /// <summary>Writes the record of the reader as a JSON object.</summary>
    /// <exception cref="FormatFaultException"><c>ESB-FLAT-COLUMNS</c>, <c>ESB-FLAT-FORMAT</c>.</exception>
    public void Write(CsvReader reader, Utf8JsonWriter json)
    {
        if (reader.Count != _columns.Length)
            CheckCount(reader);
        json.WriteStartObject();
        for (var i = 0; i < _columns.Length; i++)
        {
            if (_columns[i] is not { } column)
                continue;
            var value = i < reader.Count ? reader[i] : default;
            if (value.IsEmpty && !column.Type.HasEmpty && column.IsOptional)
                continue;
            json.WritePropertyName(column.Member);
            if (!column.Type.TryRead(value, json))
                throw FormatFaults.Value(_layout.Name, reader.Line, reader.ColumnOf(i), column.Name, value, column.Type.Expected);
        }

        json.WriteEndObject();
    }

    private void CheckCount(CsvReader reader)
    {
        var isSurplus = reader.Count > _columns.Length;
        if (_layout.Ragged == RaggedRecords.Refuse || (isSurplus && _layout.Ragged == RaggedRecords.Fill))
            throw FormatFaults.Columns(_layout.Name, reader.Line, _columns.Length, reader.Count);
    }

    private static string[] NamesOf(CsvLayout layout, CsvReader reader)
    {
        var names = new string[reader.Count];
        for (var i = 0; i < names.Length; i++)
            names[i] = Encoding.UTF8.GetString(reader[i]);
        if (Array.IndexOf(names, "") is var empty and >= 0)
            throw FormatFaults.Header(layout.Name, $"the header has no name in column {empty + 1}");
        var twin = names.GroupBy(name => name, StringComparer.Ordinal).FirstOrDefault(group => group.Count() > 1);
        return twin is null ? names : throw FormatFaults.Header(layout.Name, $"the header has the name {Show([twin.Key])} twice");
    }

    private static CsvColumn?[] Match(CsvLayout layout, string[] names)
    {
        if (layout.Columns.Count == 0)
            return [.. names.Select(Unnamed)];
        var known = layout.Columns.ToDictionary(column => column.Name);
        var missing = known
            .Values.Where(column => !column.IsOptional && !names.Contains(column.Name))
            .Select(column => column.Name)
            .ToList();
        var unknown = layout.Extra == ExtraColumns.Refuse ? names.Where(name => !known.ContainsKey(name)).ToList() : [];
        if (missing.Count + unknown.Count > 0)
        {
            var differences = new List<string>(2);
            if (missing.Count > 0)
                differences.Add($"missing {Show(missing)}");
            if (unknown.Count > 0)
                differences.Add($"unknown {Show(unknown)}");
            throw FormatFaults.Header(layout.Name, $"the header does not have the columns of the format: {string.Join("; ", differences)}");
        }

        return [.. names.Select(name => known.GetValueOrDefault(name) ?? (layout.Extra == ExtraColumns.Keep ? Unnamed(name) : null))];
    }

    private static CsvColumn Unnamed(string name) => new(name, TextField.Instance, IsOptional: true);

    private static string Show(IReadOnlyList<string> names) =>
        string.Join(", ", names.Take(10).Select(name => $"\"{FormatFaults.Show(Encoding.UTF8.GetBytes(name))}\""))
        + (names.Count > 10 ? $" and {names.Count - 10} more" : "");
}
