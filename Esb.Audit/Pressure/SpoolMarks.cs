namespace Esb.Audit.Pressure;

/// <summary>Back-pressure derived from the fill level of the spool. Not thread-safe.</summary>
/// <remarks>Callers wait above 80 %, longer as the spool fills. At 95 % no message may begin until the level is below 70 %: the remaining
/// space is reserved for in-flight messages.</remarks>
internal sealed class SpoolMarks
{
    private const double Slow = 0.80;
    private const double Full = 0.95;
    private const double Free = 0.70;

    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(1);

    /// <summary>True if no message may begin.</summary>
    public bool IsFull { get; private set; }

    /// <summary>The time that a caller waits before it begins.</summary>
    public TimeSpan Wait { get; private set; }

    /// <param name="fill">The used share of the spool, 0 to 1.</param>
    public void Look(double fill)
    {
        IsFull = fill >= (IsFull ? Free : Full);
        var share = Math.Clamp((fill - Slow) / (Full - Slow), 0, 1);
        Wait = LongestWait * (share * share); // short at first: the spool may be full only briefly
    }
}
