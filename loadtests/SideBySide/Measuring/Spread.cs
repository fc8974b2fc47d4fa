namespace SideBySide.Measuring;

/// <summary>The median of the rounds, and the lowest and the highest of them.</summary>
internal sealed record Spread(double Median, double Low, double High)
{
    public static Spread Of(IReadOnlyCollection<double> values) => new(Statistics.Median(values), values.Min(), values.Max());

    /// <summary>Ours to theirs, round by round: what disturbs the machine for a while disturbs both sides of a round.</summary>
    public static Spread OfRatios(IEnumerable<double> ours, IEnumerable<double> theirs) =>
        Of([.. ours.Zip(theirs, (our, their) => our / their)]);
}
