namespace Esb.Topics.ClaimChecks;

/// <summary>How large bodies may be, in bytes.</summary>
/// <param name="Largest">Of any body.</param>
/// <param name="LargestWhole">Of one that travels whole where there is a place for larger ones.</param>
internal sealed record BodyLimits(long Largest, long LargestWhole);
