using Esb.IntegrationTests.Faults.Checking;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>A line of the table of results.</summary>
/// <param name="Case">Such as <c>T-DEL-1</c>.</param>
/// <param name="Size">How large the run was, and what was done to it, in a few words.</param>
/// <param name="Seed">What repeats it.</param>
/// <param name="Verdict">What the checker found; null where no messages are counted.</param>
/// <param name="Took">How long the run took.</param>
/// <param name="Notes">What else was measured.</param>
internal sealed record FaultResult(string Case, string Size, int Seed, Verdict? Verdict, TimeSpan Took, string Notes = "");
