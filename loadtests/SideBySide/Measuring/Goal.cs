using System.Globalization;

namespace SideBySide.Measuring;

/// <summary>What a row is to reach: a ratio to its peer, so many messages a second, so many bytes allocated for a message at most, or only
/// that nothing is lost.</summary>
internal sealed record Goal(double? LeastRatio, double? MostBytes, double? LeastRate = null)
{
    public static Goal Ratio(double least) => new(least, null);

    /// <summary>So many messages a second, whatever a peer does in the same rounds.</summary>
    public static Goal Rate(double least) => new(null, null, least);

    /// <summary>A side that loses something has no figures, and its row does not get as far as this.</summary>
    public static Goal NothingLost { get; } = new(null, null);

    public static Goal Allocates(double most) => new(null, most);

    /// <summary>Judged as it is shown, with two decimals.</summary>
    public bool IsMet(double value) =>
        this switch
        {
            { MostBytes: { } most } => value <= most,
            { LeastRate: { } least } => value >= least,
            _ => Math.Round(value, 2) >= LeastRatio,
        };

    public string Describe(string peer) =>
        this switch
        {
            { MostBytes: { } most } => string.Create(CultureInfo.InvariantCulture, $"≤ {most / 1024:0.#} KB allocated"),
            { LeastRate: { } least } => string.Create(CultureInfo.InvariantCulture, $"≥ {least:#,0}/s"),
            { LeastRatio: { } least } => string.Create(CultureInfo.InvariantCulture, $"≥ {least:0.##} × {peer}"),
            _ => "nothing lost",
        };
}
