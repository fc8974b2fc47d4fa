namespace Esb.IntegrationTests.Faults.Results;

/// <summary>The middle of several measurements, which one bad moment of a busy machine does not move.</summary>
internal static class Medians
{
    public static double Of(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        return (sorted[(sorted.Length - 1) / 2] + sorted[sorted.Length / 2]) / 2;
    }

    public static TimeSpan Of(IEnumerable<TimeSpan> values) => TimeSpan.FromTicks((long)Of(values.Select(value => (double)value.Ticks)));
}
