namespace Esb.Tests.Fakes;

/// <summary>The clock of the machine, set ahead or back. Only the time of day: what has passed is measured as well as ever.</summary>
internal sealed class MovedTime : TimeProvider
{
    private long _ahead;

    /// <summary>By how much it is ahead.</summary>
    public TimeSpan Ahead
    {
        get => TimeSpan.FromTicks(Interlocked.Read(ref _ahead));
        set => Interlocked.Exchange(ref _ahead, value.Ticks);
    }

    public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + Ahead;
}
