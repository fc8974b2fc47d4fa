using Esb.Core.Audit;

namespace Esb.Endpoints.Sql.Batches;

/// <summary>The work of one message in the database; completes after its commit, or fails individually.</summary>
/// <param name="values">The values bound to the command.</param>
/// <param name="claim">Recorded together with the effect; null if a repeated effect is allowed.</param>
internal sealed class BatchedMessage(string?[] values, MessageClaim? claim)
    : TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public string?[] Values => values;

    public MessageClaim? Claim => claim;

    /// <summary>The values to mask in texts about the message.</summary>
    public MaskedSubject? Subject { get; } = MaskedFlow.Subject;
}
