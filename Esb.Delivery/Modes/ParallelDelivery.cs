using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Failures;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Modes;

/// <summary>Delivers without a guaranteed order: a failed message waits for its next attempt outside the host, and others overtake
/// it.</summary>
internal sealed class ParallelDelivery(Attempter attempter, RequestDelivery requests, LastResort lastResort, DeliveryJournal journal)
    : IDeliveryMode
{
    public async Task<Settlement> DeliverAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        if (delivery.Reply is not null)
            return await requests.AnswerAsync(delivery, attempts, tokens);
        var result = await attempter.RunAsync(attempts, delivery.Redeliveries > 0, check: null, keep: null, tokens);
        if (result.Failure is { } failure)
        {
            return result.Next is NextAttempt.After after
                ? new Settlement.Later(after.Delay, attempts.Count) { Failures = attempts.Failures }
                : await lastResort.SettleAsync(attempts, failure, tokens);
        }

        await journal.DeliveredAsync(attempts, result.Answer, Core.Audit.AuditKind.Delivered, Core.Audit.AuditDurability.Flushed, tokens);
        return Settlement.Done;
    }
}
