namespace SideBySide.Measuring;

/// <summary>One line of a table: our side, what it is compared with, and the goal.</summary>
/// <param name="Scenario">Such as "S1".</param>
/// <param name="Case">What is special to the line: a size, a pool.</param>
/// <param name="Ours">Our side.</param>
/// <param name="Peers">The other sides; the slowest of them is the limit. None where the goal is about our side alone.</param>
/// <param name="Goal">Null where the line only tells.</param>
internal sealed record Row(string Scenario, string Case, ITarget Ours, IReadOnlyList<ITarget> Peers, Goal? Goal);
