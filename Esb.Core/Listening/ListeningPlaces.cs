namespace Esb.Core.Listening;

/// <summary>All places of this machine on which a configuration listens. Immutable.</summary>
public sealed record ListeningPlaces(IReadOnlyList<ListeningPlace> All);
