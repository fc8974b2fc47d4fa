using System.Globalization;

namespace SideBySide.Measuring;

/// <summary>What a row is to reach: a ratio to its peer, or so many bytes allocated for a message at most.</summary>
internal sealed record Goal(double? LeastRatio, double? MostBytes)
{
    public static Goal Ratio(double least) => new(least, null);

    public static Goal Allocates(double most) => new(null, most);

    /// <summary>Judged as it is shown, with two decimals.</summary>
    public bool IsMet(double value) => MostBytes is { } most ? value <= most : Math.Round(value, 2) >= LeastRatio;

    public string Describe(string peer) => MostBytes is { } most
        ? string.Create(CultureInfo.InvariantCulture, $"≤ {most / 1024:0.#} KB allocated")
        : string.Create(CultureInfo.InvariantCulture, $"≥ {LeastRatio:0.##} × {peer}");
}
