using Esb.Content.Formats.Fields;
using Esb.Core.Configuration.Settings;

namespace Esb.Content.Formats.Flat;

/// <summary>Settings of a format of the type <c>flat</c>: records of positional or delimited fields, known by tags.</summary>
public sealed record FlatFormatConfig : FormatConfig
{
    /// <summary>The name of the encoding.</summary>
    [Setting("The encoding, such as utf-8, iso-8859-1 or windows-1252; a byte order mark wins.")]
    public string Encoding { get; init; } = "utf-8";

    /// <summary>The end of a written line.</summary>
    [Setting("The end of each line that is written; CR LF, LF and CR are read, also mixed.")]
    public LineEnd LineEnd { get; init; } = LineEnd.Crlf;

    /// <summary>The length of every record in bytes; null if a record is a line.</summary>
    [Setting("The length of every record in bytes, where records follow one another without line ends.", Range = "1..1000000")]
    public int? Length { get; init; }

    /// <summary>The records, in their order.</summary>
    [Setting("The records, in the order in which they come.")]
    public required IReadOnlyList<FlatRecordConfig> Records { get; init; }
}

/// <summary>A record of a flat format.</summary>
public sealed record FlatRecordConfig : SettingsRecord
{
    /// <summary>The name of the record, and of its member in JSON.</summary>
    [Setting("The name of the record, in JSON and XML too; unique in the format.", Name = "name")]
    public required string Record { get; init; }

    /// <summary>The text that distinguishes the record; null if it stands alone.</summary>
    [Setting("The text by which the record is recognised; it is not a field. Without it any record is taken for this one.")]
    public string? Tag { get; init; }

    /// <summary>The position of the tag.</summary>
    [Setting("Where the tag is: the number of characters before it; with a delimiter the number of fields.", Range = "0..1000000")]
    public int TagAt { get; init; }

    /// <summary>The number of occurrences: <c>1</c>, <c>0..1</c>, <c>1..*</c>.</summary>
    [Setting("How often it comes: a number, or a range such as \"0..1\" or \"1..*\".")]
    public string Occurs { get; init; } = "1";

    /// <summary>True if the step split makes a message of each.</summary>
    [Setting("Whether split makes a message of each such record, with the records in it.")]
    public bool Item { get; init; }

    /// <summary>The character between fields; null if fields have lengths.</summary>
    [Setting("The character between two fields. Without it each field has a length.")]
    public string? Delimiter { get; init; }

    /// <summary>The fields, in their order.</summary>
    [Setting("The fields, in their order.")]
    public IReadOnlyList<FlatFieldConfig> Fields { get; init; } = [];

    /// <summary>The records that belong to this one and follow it.</summary>
    [Setting("The records that belong to this one and follow it.")]
    public IReadOnlyList<FlatRecordConfig> Records { get; init; } = [];
}

/// <summary>A field of a record.</summary>
public sealed record FlatFieldConfig : FieldConfig
{
    /// <summary>The name of the field; empty for fillers.</summary>
    [Setting("The name of the field; a filler needs none.", Name = "name")]
    public string Field { get; init; } = "";

    /// <summary>The length in characters.</summary>
    [Setting("The length in characters; in records without a delimiter.", Range = "1..1000000")]
    public int? Length { get; init; }

    /// <summary>Digits of the fraction of a decimal without a separator.</summary>
    [Setting("How many digits at the end of a decimal are its fraction, without a separator.", Range = "0..28")]
    public int? Decimals { get; init; }

    /// <summary>The side at which a value stands.</summary>
    [Setting("The side at which a value stands; the other is padded.")]
    public FieldAlignment Align { get; init; }

    /// <summary>The padding character.</summary>
    [Setting("The character that fills a field up to its length.")]
    public string Pad { get; init; } = " ";

    /// <summary>True if padding is not part of the value.</summary>
    [Setting("Whether padding is removed when the field is read.")]
    public bool Trim { get; init; } = true;

    /// <summary>The text of an empty field.</summary>
    [Setting("The text that stands for an empty field when it is read, and for a missing one when it is written.")]
    public string? Default { get; init; }

    /// <summary>True if the field carries no value.</summary>
    [Setting("Whether the field is only skipped; it is written as its default, or as padding.")]
    public bool Filler { get; init; }

    /// <summary>The count or sum that the field must equal; null if none.</summary>
    [Setting(
        "The count or sum that the field must have. It covers the records beside this one and in them; writing fills in a missing one."
    )]
    public FlatCheckConfig? Check { get; init; }
}

/// <summary>A count or sum that a field must equal.</summary>
[ExactlyOne("count", "sum")]
public sealed record FlatCheckConfig : SettingsRecord
{
    /// <summary>The name of the records to count.</summary>
    [Setting("The name of the records to count.")]
    public string? Count { get; init; }

    /// <summary>The record and field to add up, such as <c>order.amount</c>.</summary>
    [Setting("The record and the field to add up, such as \"order.amount\".")]
    public string? Sum { get; init; }
}

/// <summary>Sides of a field.</summary>
public enum FieldAlignment
{
    /// <summary>Padding follows.</summary>
    Left,

    /// <summary>Padding precedes.</summary>
    Right,
}
