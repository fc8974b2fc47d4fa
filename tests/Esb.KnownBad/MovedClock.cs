using System.Globalization;

namespace Esb.KnownBad;

/// <summary>A clock that is set while the host runs: a file says by how much it is ahead, as a <see cref="TimeSpan"/>. Only the time of
/// day, as on a real machine.</summary>
internal sealed class MovedClock(string file) : TimeProvider
{
    public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + TimeSpan.Parse(File.ReadAllText(file), CultureInfo.InvariantCulture);
}
