using System.Globalization;

namespace SideBySide.Measuring;

/// <summary>How long and how often.</summary>
/// <param name="Rounds">Rounds of each side.</param>
/// <param name="Round">The length of one.</param>
/// <param name="WarmUp">Full load before the first round of a side that did not run yet.</param>
internal sealed record Method(int Rounds, TimeSpan Round, TimeSpan WarmUp)
{
    public static Method Full { get; } = new(5, TimeSpan.FromSeconds(5), TimeSpan.FromSeconds(15));

    public static Method Quick { get; } = new(2, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(3));

    /// <summary>The folder for flame graphs of our sides, one for each; null for none.</summary>
    public string? Flames { get; init; }

    /// <summary>For what ran warm already, with messages of another size: a tenth, in whole seconds, since wrk knows no others.</summary>
    public TimeSpan WarmAgain => TimeSpan.FromSeconds(Math.Max(1, Math.Floor(WarmUp.TotalSeconds / 10)));

    public string Describe() =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{Rounds} rounds of {Round.TotalSeconds:0.#} s, the sides by turns, after {WarmUp.TotalSeconds:0.#} s of warm-up under "
                + $"full load, {WarmAgain.TotalSeconds:0.#} s for what ran warm already"
        );
}
