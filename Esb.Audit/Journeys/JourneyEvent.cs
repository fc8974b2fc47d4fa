using Esb.Core.Audit;

namespace Esb.Audit.Journeys;

/// <summary>One thing that happened to a message at a place. Immutable.</summary>
/// <param name="Fact">What is recorded of it.</param>
/// <param name="Replay">After how many replays: 0 before the first.</param>
/// <param name="Started">When it began, since the journey did, clocks made even.</param>
/// <param name="Ended">When it was over.</param>
public sealed record JourneyEvent(AuditFact Fact, int Replay, TimeSpan Started, TimeSpan Ended);
