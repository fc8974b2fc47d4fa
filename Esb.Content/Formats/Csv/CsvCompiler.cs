using System.Buffers;
using Esb.Content.Formats.Fields;
using Esb.Core.Configuration;

namespace Esb.Content.Formats.Csv;

/// <summary>Compiles CSV formats.</summary>
internal static class CsvCompiler
{
    /// <summary>The compiled format; null after an error.</summary>
    public static CsvFormat? Compile(string name, CsvFormatConfig config, ConfigErrors errors)
    {
        var before = errors.All.Count;
        var delimiter = FieldCompiler.Character(config, "delimiter", config.Delimiter, errors);
        var quote = FieldCompiler.Character(config, "quote", config.Quote, errors);
        var escape = config.Escape is null ? quote : FieldCompiler.Character(config, "escape", config.Escape, errors);
        if (delimiter == quote)
            errors.Add("ESB-CFG-VALUE", config, "quote", "expected another character than the delimiter");
        if (config.Escape is not null && escape == delimiter)
            errors.Add("ESB-CFG-VALUE", config, "escape", "expected another character than the delimiter");
        foreach (var (_, column) in config.Columns.Where(column => column.Key.Length == 0))
            errors.Add("ESB-CFG-NAME", column.Path, "a column needs a name", column.Origin);
        var layout = new CsvLayout
        {
            Name = name,
            Text = new FormatText(name, FieldCompiler.EncodingOf(config, config.Encoding, errors)),
            Delimiter = delimiter,
            Quote = quote,
            Escape = escape,
            HasHeader = config.Header,
            MaxLine = config.MaxLine.Bytes,
            LineEnd = config.LineEnd == LineEnd.Lf ? "\n"u8.ToArray() : "\r\n"u8.ToArray(),
            Ragged = config.Ragged,
            Extra = config.Extra,
            Formulas = config.Formulas,
            RefusesEmpty = config.Empty == EmptyText.Refuse,
            Columns =
            [
                .. config.Columns.Select(column => new CsvColumn(
                    column.Key,
                    FieldCompiler.Compile(column.Value, errors),
                    column.Value.Optional
                )),
            ],
            Ends = SearchValues.Create([delimiter, (byte)'\r', (byte)'\n']),
            Quoted = SearchValues.Create([delimiter, quote, escape, (byte)'\r', (byte)'\n']),
        };
        return errors.All.Count == before ? new CsvFormat(layout) : null;
    }
}
