namespace Esb.Host.Reloading;

/// <summary>The result of a reload.</summary>
/// <param name="Before">The previous revision.</param>
/// <param name="After">The running revision.</param>
/// <param name="Changes">The changes made, one line each; empty if the files are unchanged.</param>
/// <param name="Hosts">The hosts that exchanged the revision.</param>
internal sealed record ReloadResult(string Before, string After, IReadOnlyList<string> Changes, IReadOnlyList<string> Hosts)
{
    /// <summary>The number of the version in service; null if it could not be kept as a version.</summary>
    public long? Version { get; init; }
}
