using Esb.Core.Audit;

namespace Esb.Endpoints.Sql.Batches;

/// <summary>What one message has done in the database; completes once that is committed, or fails for itself.</summary>
/// <param name="values">The values bound to the command.</param>
/// <param name="claim">Recorded together with the effect; null where a message may have it twice.</param>
internal sealed class BatchedMessage(string?[] values, MessageClaim? claim) : TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public string?[] Values => values;

    public MessageClaim? Claim => claim;

    /// <summary>What texts about it are written without.</summary>
    public MaskedSubject? Subject { get; } = MaskedFlow.Subject;
}
