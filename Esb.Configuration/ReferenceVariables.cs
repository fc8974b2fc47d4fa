namespace Esb.Configuration;

/// <summary>The environment variables that a configuration was read with, for the references of files that are read while the bus runs.
/// Immutable.</summary>
/// <param name="Values">The values by name.</param>
public sealed record ReferenceVariables(IReadOnlyDictionary<string, string> Values);
