namespace Esb.Core.Configuration;

/// <summary>Identity of this bus. Immutable.</summary>
/// <param name="Name">Name of the configuration and of its farm; constant for the life of the process.</param>
public sealed record BusIdentity(string Name);

/// <summary>Identity of the configuration revision to which a part belongs. Immutable.</summary>
/// <param name="Id">Equal for all configurations with equal content.</param>
public sealed record RevisionIdentity(string Id);
