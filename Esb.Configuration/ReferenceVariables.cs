namespace Esb.Configuration;

/// <summary>The environment variables that a configuration was read with. Files that are read at run time resolve their references with
/// them. Immutable.</summary>
/// <param name="Values">The values by name.</param>
public sealed record ReferenceVariables(IReadOnlyDictionary<string, string> Values);
