using Esb.Content.Schemas;

namespace Esb.Content.Formats.Conversion;

/// <summary>Options of a conversion between XML and JSON. Immutable.</summary>
public sealed record ConversionOptions
{
    /// <summary>The defaults.</summary>
    public static readonly ConversionOptions Default = new();

    /// <summary>Names of elements that are arrays in JSON even if they occur once.</summary>
    public IReadOnlyCollection<string> Arrays { get; init; } = [];

    /// <summary>The types of the values of JSON made of XML, which make numbers, booleans and arrays of texts; null leaves texts.</summary>
    public ValueTypes? Types { get; init; }

    /// <summary>The root element of XML made of JSON; null if the JSON names it by its only member.</summary>
    public string? Root { get; init; }
}
