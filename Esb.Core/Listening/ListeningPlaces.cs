namespace Esb.Core.Listening;

/// <summary>Every place of this machine that a configuration listens at. Immutable.</summary>
public sealed record ListeningPlaces(IReadOnlyList<ListeningPlace> All);
