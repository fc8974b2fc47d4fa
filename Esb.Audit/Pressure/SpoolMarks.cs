namespace Esb.Audit.Pressure;

/// <summary>What the fill of the spool means for those who want to begin something. Not thread-safe.</summary>
/// <remarks>Callers wait above 80 %, longer the fuller it is. At 95 % nobody begins until it is below 70 %: what remains is for the end of what is under way.</remarks>
internal sealed class SpoolMarks
{
    private const double Slow = 0.80;
    private const double Full = 0.95;
    private const double Free = 0.70;

    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(1);

    /// <summary>Whether nobody may begin.</summary>
    public bool IsFull { get; private set; }

    /// <summary>What a caller waits before it begins.</summary>
    public TimeSpan Wait { get; private set; }

    /// <param name="fill">The share of the spool that is used, 0 to 1.</param>
    public void Look(double fill)
    {
        IsFull = fill >= (IsFull ? Free : Full);
        var share = Math.Clamp((fill - Slow) / (Full - Slow), 0, 1);
        Wait = LongestWait * (share * share); // hardly felt at first: the spool may have been full for a moment only
    }
}
