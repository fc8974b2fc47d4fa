using Esb.Content.Formats.Fields;
using Esb.Core.Configuration.Settings;

namespace Esb.Content.Formats.Csv;

/// <summary>Settings of a format of the type <c>csv</c> (RFC 4180, with the variations that are met).</summary>
public sealed record CsvFormatConfig : FormatConfig
{
    /// <summary>The character between two fields.</summary>
    [Setting("The character between two fields.")]
    public string Delimiter { get; init; } = ",";

    /// <summary>The character around fields that hold delimiters or line ends.</summary>
    [Setting("The character around fields that hold delimiters, quotes or line ends.")]
    public string Quote { get; init; } = "\"";

    /// <summary>The character before a quote within quotes; null for a doubled quote.</summary>
    [Setting("The character that takes the meaning from the next one within quotes. By default a quote is doubled.")]
    public string? Escape { get; init; }

    /// <summary>True if the first record names the columns.</summary>
    [Setting("Whether the first record holds the names of the columns.")]
    public bool Header { get; init; } = true;

    /// <summary>The name of the encoding.</summary>
    [Setting("The encoding, such as utf-8, iso-8859-1 or windows-1252; a byte order mark wins.")]
    public string Encoding { get; init; } = "utf-8";

    /// <summary>The end of a written line.</summary>
    [Setting("The end of each line that is written; CR LF, LF and CR are read, also mixed.")]
    public LineEnd LineEnd { get; init; } = LineEnd.Crlf;

    /// <summary>The treatment of records with another number of fields than columns.</summary>
    [Setting("Records with another number of fields: refused; with missing fields filled as empty; or filled, and surplus fields dropped.")]
    public RaggedRecords Ragged { get; init; }

    /// <summary>The treatment of columns that the format does not name.</summary>
    [Setting("Columns that the format does not name: refused, kept as texts, or dropped.")]
    public ExtraColumns Extra { get; init; }

    /// <summary>The treatment of texts that a spreadsheet takes for a formula.</summary>
    [Setting(
        "Texts that are written and begin with =, +, - or @: in quotes, with an apostrophe in front (which spreadsheets do not "
            + "evaluate), or as they are."
    )]
    public FormulaTexts Formulas { get; init; }

    /// <summary>The columns, by name, in the order in which they are written.</summary>
    [Setting("The columns and what they hold; by default all that the header names, as texts.")]
    public IReadOnlyDictionary<string, CsvColumnConfig> Columns { get; init; } = new Dictionary<string, CsvColumnConfig>();
}

/// <summary>A column of a CSV format.</summary>
public sealed record CsvColumnConfig : FieldConfig;

/// <summary>Treatments of records with another number of fields than columns.</summary>
public enum RaggedRecords
{
    /// <summary>A fault, <c>ESB-FLAT-COLUMNS</c>.</summary>
    Refuse,

    /// <summary>Missing fields are empty; surplus fields are a fault.</summary>
    Fill,

    /// <summary>Missing fields are empty; surplus fields are dropped.</summary>
    Drop,
}

/// <summary>Treatments of columns that the format does not name.</summary>
public enum ExtraColumns
{
    /// <summary>A fault.</summary>
    Refuse,

    /// <summary>Kept as texts.</summary>
    Keep,

    /// <summary>Dropped.</summary>
    Drop,
}

/// <summary>Treatments of texts that a spreadsheet takes for a formula.</summary>
public enum FormulaTexts
{
    /// <summary>In quotes; reading it back gives the same text.</summary>
    Quote,

    /// <summary>With an apostrophe in front, which stays when it is read back.</summary>
    Prefix,

    /// <summary>As they are.</summary>
    Keep,
}
