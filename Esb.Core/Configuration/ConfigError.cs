namespace Esb.Core.Configuration;

/// <summary>An error in a configuration: a value to collect, never an exception.</summary>
/// <param name="Code">Stable, for scripts and searches: <c>ESB-CFG-…</c>.</param>
/// <param name="Path">Path in the configuration, such as <c>endpoints.orders-db.poolSize</c>; a file name if no value is at fault.</param>
/// <param name="Value">The value as written, already clipped and masked; null if absent.</param>
/// <param name="Expected">The accepted values, as the end of a sentence.</param>
/// <param name="Origin">The file and position, or the environment variable, of the value; null if none.</param>
public sealed record ConfigError(string Code, string Path, string? Value, string Expected, ConfigOrigin? Origin = null)
{
    /// <summary>The error on one line: <c>endpoints.orders-db.poolSize = 0: expected 1..1000</c>.</summary>
    public string Describe() =>
        (Value is null ? $"{Path}: {Expected}" : $"{Path} = {Value}: {Expected}") + (Origin is null ? "" : $" ({Origin})");

    /// <inheritdoc/>
    public override string ToString() => $"{Code} {Describe()}";
}
