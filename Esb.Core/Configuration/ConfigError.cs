namespace Esb.Core.Configuration;

/// <summary>One thing that is wrong in a configuration: a value to be collected, never an exception.</summary>
/// <param name="Code">Stable, for scripts and searches: <c>ESB-CFG-…</c>.</param>
/// <param name="Path">Where in the configuration, such as <c>endpoints.orders-db.poolSize</c>; a file name where no value is to blame.</param>
/// <param name="Value">What was written, already clipped and masked; null where nothing was.</param>
/// <param name="Expected">What is accepted instead, as the end of a sentence.</param>
/// <param name="Origin">The file and position, or the environment variable, that it came from; null where there is none.</param>
public sealed record ConfigError(string Code, string Path, string? Value, string Expected, ConfigOrigin? Origin = null)
{
    /// <summary>The error on one line: <c>endpoints.orders-db.poolSize = 0: expected 1..1000</c>.</summary>
    public string Describe() =>
        (Value is null ? $"{Path}: {Expected}" : $"{Path} = {Value}: {Expected}") + (Origin is null ? "" : $" ({Origin})");

    /// <inheritdoc/>
    public override string ToString() => $"{Code} {Describe()}";
}
