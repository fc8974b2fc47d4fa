namespace SideBySide.Measuring;

internal static class Statistics
{
    /// <exception cref="InvalidOperationException">There are no values.</exception>
    public static double Median(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        if (sorted.Length == 0)
            throw new InvalidOperationException("A median of nothing.");
        var middle = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /// <summary>The median over what is known; null where nothing is.</summary>
    public static double? MedianKnown(IEnumerable<double?> values)
    {
        var known = values.OfType<double>().ToArray();
        return known.Length == 0 ? null : Median(known);
    }
}
