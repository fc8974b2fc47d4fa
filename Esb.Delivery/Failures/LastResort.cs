using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Failures;

/// <summary>Settles a message that is neither retried nor parked: as a dead letter, or by discarding it.</summary>
internal sealed class LastResort(string endpoint, FailureAction action, DeliveryJournal journal)
{
    public async Task<Settlement> SettleAsync(DeliveryAttempts attempts, EsbException failure, DeliveryTokens tokens)
    {
        if (action != FailureAction.Discard)
            return new Settlement.Divert(attempts.ToDeadLetter(endpoint, failure));
        await journal.RecordAsync(attempts, AuditKind.Discarded, failure, tokens);
        return Settlement.Done;
    }
}
