using Esb.Core.Storage;

namespace Esb.Core.Topics;

/// <summary>What becomes of a delivery. The transport carries it out; until it has, the message is kept.</summary>
public abstract record Settlement
{
    private Settlement()
    {
    }

    /// <summary>It is done with: forget it.</summary>
    public static Settlement Done { get; } = new DoneSettlement();

    /// <summary>It was not worked on: give it back, to be delivered again soon, here or elsewhere.</summary>
    public static Settlement Return { get; } = new ReturnSettlement();

    /// <summary>See <see cref="Done"/>.</summary>
    public sealed record DoneSettlement : Settlement;

    /// <summary>See <see cref="Return"/>.</summary>
    public sealed record ReturnSettlement : Settlement;

    /// <summary>Deliver it again after a delay, to this endpoint only.</summary>
    /// <param name="Delay">One of the subscription's <see cref="Subscription.RetryDelays"/>.</param>
    /// <param name="Attempt">The count that it then carries.</param>
    public sealed record Later(TimeSpan Delay, int Attempt) : Settlement
    {
        /// <summary>What became of the attempts so far; travels with the message.</summary>
        public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];
    }

    /// <summary>Keep it as a dead letter.</summary>
    /// <param name="Letter">With the reason.</param>
    public sealed record Divert(DeadLetter Letter) : Settlement;
}
