using Esb.Core.Configuration;

namespace Esb.Configuration;

/// <summary>A value of a configuration with its origin: a line of <c>esb explain</c>.</summary>
/// <param name="Path">The path in the configuration.</param>
/// <param name="Shown">The value for display: secrets are <c>***</c>.</param>
/// <param name="Origin">The file and position, the environment variable, or <c>default</c>.</param>
public sealed record TracedValue(string Path, string Shown, ConfigOrigin Origin)
{
    /// <summary>True if the value is a default that is not written anywhere.</summary>
    public bool IsDefault => Origin == ConfigOrigin.Default;
}
