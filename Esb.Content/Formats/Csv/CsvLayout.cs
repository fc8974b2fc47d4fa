using System.Buffers;
using System.Text;
using System.Text.Json;
using Esb.Content.Formats.Fields;

namespace Esb.Content.Formats.Csv;

/// <summary>A compiled CSV format. Immutable.</summary>
internal sealed record CsvLayout
{
    public required string Name { get; init; }

    public required FormatText Text { get; init; }

    public required byte Delimiter { get; init; }

    public required byte Quote { get; init; }

    /// <summary>The quote itself where quotes are doubled.</summary>
    public required byte Escape { get; init; }

    public required bool HasHeader { get; init; }

    public required long MaxLine { get; init; }

    public required ReadOnlyMemory<byte> LineEnd { get; init; }

    public required RaggedRecords Ragged { get; init; }

    public required ExtraColumns Extra { get; init; }

    public required FormulaTexts Formulas { get; init; }

    public required bool RefusesEmpty { get; init; }

    /// <summary>The columns that the format names; empty if it names none.</summary>
    public required IReadOnlyList<CsvColumn> Columns { get; init; }

    /// <summary>Bytes that end a field without quotes.</summary>
    public required SearchValues<byte> Ends { get; init; }

    /// <summary>Bytes for which a written field needs quotes.</summary>
    public required SearchValues<byte> Quoted { get; init; }
}

/// <summary>A column of a CSV format. Immutable.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Type">The type of its values.</param>
/// <param name="IsOptional">True if a value may be absent.</param>
internal sealed record CsvColumn(string Name, FieldType Type, bool IsOptional)
{
    /// <summary>Its name as a JSON member.</summary>
    public JsonEncodedText Member { get; } = JsonEncodedText.Encode(Name, FormatJson.Encoder);

    public byte[] Bytes { get; } = Encoding.UTF8.GetBytes(Name);
}
