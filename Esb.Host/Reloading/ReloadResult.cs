namespace Esb.Host.Reloading;

/// <summary>What a reload came to.</summary>
/// <param name="Before">The revision that ran.</param>
/// <param name="After">The revision that runs.</param>
/// <param name="Changes">What was done, a line for each thing that changed; none where the files say the same.</param>
/// <param name="Hosts">The hosts that exchanged.</param>
internal sealed record ReloadResult(string Before, string After, IReadOnlyList<string> Changes, IReadOnlyList<string> Hosts);
