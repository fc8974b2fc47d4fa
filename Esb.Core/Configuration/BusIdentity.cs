namespace Esb.Core.Configuration;

/// <summary>Which bus this is. Immutable.</summary>
/// <param name="Name">The name of the configuration and of its farm; the same for as long as the process lives.</param>
public sealed record BusIdentity(string Name);

/// <summary>Which revision of its configuration a part belongs to. Immutable.</summary>
/// <param name="Id">The same for every configuration that says the same.</param>
public sealed record RevisionIdentity(string Id);
