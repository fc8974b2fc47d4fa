namespace Esb.Topics.ClaimChecks;

/// <summary>Size limits of bodies, in bytes.</summary>
/// <param name="Largest">The limit for any body.</param>
/// <param name="LargestWhole">The limit for a body that is sent inline, if larger ones can be stored.</param>
internal sealed record BodyLimits(long Largest, long LargestWhole);
