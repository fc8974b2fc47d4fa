namespace Esb.KnownBad;

/// <summary>A clock that is set wrong. Only the time of day: what has passed is measured as well as ever, as on a real machine.</summary>
internal sealed class WrongClock(TimeSpan ahead) : TimeProvider
{
    public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + ahead;
}
