using System.Text;
using System.Text.Json;
using Esb.Content.Formats.Fields;

namespace Esb.Content.Formats.Flat;

/// <summary>A compiled flat format. Immutable.</summary>
internal sealed record FlatLayout
{
    public required string Name { get; init; }

    public required FormatText Text { get; init; }

    public required ReadOnlyMemory<byte> LineEnd { get; init; }

    /// <summary>The length of every record; null if a record is a line.</summary>
    public required int? Length { get; init; }

    public required long MaxLine { get; init; }

    public required bool RefusesEmpty { get; init; }

    public required FlatLevel Root { get; init; }

    /// <summary>The number of records of all levels.</summary>
    public required int RecordCount { get; init; }

    /// <summary>The number of fields that are added up.</summary>
    public required int SumCount { get; init; }
}

/// <summary>Records that follow one another, within the same record or text. Immutable.</summary>
internal sealed record FlatLevel(IReadOnlyList<FlatRecord> Records)
{
    /// <summary>True if a field of these records has a count or sum to check.</summary>
    public bool HasChecks { get; } = Records.Any(record => record.Fields.Any(field => field.Check is not null));
}

/// <summary>A record. Immutable.</summary>
internal sealed record FlatRecord
{
    public required string Name { get; init; }

    /// <summary>Its number among all records of the format.</summary>
    public required int Index { get; init; }

    /// <summary>Empty if any record is taken for this one.</summary>
    public required byte[] Tag { get; init; }

    public required int TagAt { get; init; }

    public required int Minimum { get; init; }

    public required int Maximum { get; init; }

    public required bool IsItem { get; init; }

    /// <summary>Null if fields have lengths.</summary>
    public required byte? Delimiter { get; init; }

    public required IReadOnlyList<FlatField> Fields { get; init; }

    public required FlatLevel Level { get; init; }

    /// <summary>Its length in characters, with its tag; 0 if it has a delimiter.</summary>
    public required int Width { get; init; }

    public required JsonEncodedText Member { get; init; }

    public bool Repeats => Maximum > 1;

    public string Description => Tag.Length == 0 ? Name : $"{Name} (tag {Encoding.UTF8.GetString(Tag)})";
}

/// <summary>A field. Immutable.</summary>
internal sealed record FlatField
{
    public required string Name { get; init; }

    public required FieldType Type { get; init; }

    /// <summary>In characters; 0 in records with a delimiter.</summary>
    public required int Length { get; init; }

    public required bool IsRight { get; init; }

    public required byte Pad { get; init; }

    public required bool Trims { get; init; }

    public required bool IsOptional { get; init; }

    public required byte[]? Default { get; init; }

    public required bool IsFiller { get; init; }

    public FlatCheck? Check { get; init; }

    /// <summary>Its number among the fields that are added up; null if it is not.</summary>
    public int? Sum { get; init; }

    public JsonEncodedText Member { get; init; }
}

/// <summary>A count or sum that a field must equal. Immutable.</summary>
/// <param name="Record">The records that are counted, or whose field is added up.</param>
/// <param name="Field">The field that is added up; null to count.</param>
/// <param name="Index">The number of the record, or of the sum.</param>
internal sealed record FlatCheck(string Record, string? Field, int Index)
{
    public override string ToString() => Field is null ? $"the number of records {Record}" : $"the sum of {Record}.{Field}";
}
