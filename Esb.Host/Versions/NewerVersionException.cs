namespace Esb.Host.Versions;

/// <summary>Another version was put into service while the host started: it starts anew, with that one.</summary>
/// <param name="number">The number of that version.</param>
internal sealed class NewerVersionException(long number) : Exception($"Version {number} has been put into service meanwhile.")
{
    public long Number => number;
}
