using Esb.Core.Storage;

namespace Esb.Core.Topics;

/// <summary>Settlement of a delivery. The transport keeps the message until it has carried out the settlement.</summary>
public abstract record Settlement
{
    private Settlement() { }

    /// <summary>The message is processed: remove it.</summary>
    public static Settlement Done { get; } = new DoneSettlement();

    /// <summary>The message was not processed: return it for early redelivery, here or elsewhere.</summary>
    public static Settlement Return { get; } = new ReturnSettlement();

    /// <summary>See <see cref="Done"/>.</summary>
    public sealed record DoneSettlement : Settlement;

    /// <summary>See <see cref="Return"/>.</summary>
    public sealed record ReturnSettlement : Settlement;

    /// <summary>Redelivers the message after a delay, to this endpoint only.</summary>
    /// <param name="Delay">One of the subscription's <see cref="Subscription.RetryDelays"/>.</param>
    /// <param name="Attempt">The attempt count that it then carries.</param>
    public sealed record Later(TimeSpan Delay, int Attempt) : Settlement
    {
        /// <summary>Failures of the attempts so far; they travel with the message.</summary>
        public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];
    }

    /// <summary>Stores the message as a dead letter.</summary>
    /// <param name="Letter">The letter, with the reason.</param>
    public sealed record Divert(DeadLetter Letter) : Settlement;
}
