using Esb.IntegrationTests.Faults.Results;

namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>Where a measured value goes in the long run. Its slope is the median of the slopes between any two of its points (Theil and
/// Sen), so that single bad moments of a busy machine do not move it.</summary>
internal sealed record Trend
{
    private Trend(IReadOnlyList<(TimeSpan At, double Value)> points, double perHour)
    {
        PerHour = perHour;
        Drift = perHour * (points[^1].At - points[0].At).TotalHours;
        Most = points.Max(point => point.Value);
        Middle = Medians.Of(points.Select(point => point.Value));
    }

    /// <summary>By how much it grows in an hour.</summary>
    public double PerHour { get; }

    /// <summary>By how much it grew, by that slope, from the first point to the last.</summary>
    public double Drift { get; }

    public double Most { get; }

    public double Middle { get; }

    /// <exception cref="ArgumentException">There are fewer than two moments.</exception>
    public static Trend Of(IReadOnlyList<(TimeSpan At, double Value)> points)
    {
        var slopes = new List<double>(points.Count * points.Count / 2);
        for (var from = 0; from < points.Count; from++)
        for (var to = from + 1; to < points.Count; to++)
        {
            if (points[to].At > points[from].At)
                slopes.Add((points[to].Value - points[from].Value) / (points[to].At - points[from].At).TotalHours);
        }

        if (slopes.Count == 0)
            throw new ArgumentException("A trend needs two moments.", nameof(points));
        return new Trend(points, Medians.Of(slopes));
    }
}
