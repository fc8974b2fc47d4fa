namespace SideBySide.Measuring;

/// <summary>What a load generator counted.</summary>
internal sealed record Load(long Messages, double PerSecond, string? Flaw);
