using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Failures;

/// <summary>What becomes of a message that nobody tries to deliver any more, and that does not park: a dead letter, or nothing.</summary>
internal sealed class LastResort(string endpoint, FailureAction action, DeliveryJournal journal)
{
    public async Task<Settlement> SettleAsync(DeliveryAttempts attempts, EsbException failure, DeliveryTokens tokens)
    {
        if (action != FailureAction.Discard) return new Settlement.Divert(attempts.ToDeadLetter(endpoint, failure));
        await journal.RecordAsync(attempts, AuditKind.Discarded, failure, tokens);
        return Settlement.Done;
    }
}
