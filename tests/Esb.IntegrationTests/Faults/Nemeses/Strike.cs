namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>A fault that happened, and when it was mended.</summary>
internal sealed record Strike(string Name, DateTimeOffset StruckAt, DateTimeOffset HealedAt);
