using Esb.Core.Configuration;

namespace Esb.Configuration;

/// <summary>A value of a configuration that has been read, and where it came from: a line of <c>esb explain</c>.</summary>
/// <param name="Path">The path in the configuration.</param>
/// <param name="Shown">The value as people may see it: secrets are <c>***</c>.</param>
/// <param name="Origin">The file and position, the environment variable, or <c>default</c>.</param>
public sealed record TracedValue(string Path, string Shown, ConfigOrigin Origin)
{
    /// <summary>Whether nobody wrote it.</summary>
    public bool IsDefault => Origin == ConfigOrigin.Default;
}
