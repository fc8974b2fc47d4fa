using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Failures;
using Esb.Delivery.Outages;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Modes;

/// <summary>Answers requests with a reply in time, or with a fault. Nothing is delayed, because the requester waits, and expired requests
/// are not processed.</summary>
internal sealed class RequestDelivery(
    OutboundEndpointConfig config,
    Attempter attempter,
    OutageGate gate,
    RetryLadder ladder,
    DeliveryJournal journal,
    TimeProvider time
)
{
    public async Task<Settlement> AnswerAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        while (true)
        {
            if (!IsWanted(delivery))
                return await ExpireAsync(attempts, tokens);
            var pass = gate.TryEnter();
            if (pass == GatePass.Closed)
                return await FaultAsync(delivery, attempts, Closed(), tokens);
            var outcome = await attempter.TryAsync(
                attempts,
                pass,
                delivery.Redeliveries > 0,
                () => ValueTask.FromResult(IsWanted(delivery)),
                wantsAnswer: true,
                tokens
            );
            if (outcome == AttemptOutcome.Unwanted)
                return await ExpireAsync(attempts, tokens);
            if (outcome.Failure is not { } failure)
                return await ReplyAsync(delivery, attempts, outcome, tokens);
            await journal.FailedAsync(attempts, failure, tokens);
            if (outcome.IsNoAttempt || ladder.AfterRequest(attempts.Count, failure) is not NextAttempt.Now)
                return await FaultAsync(delivery, attempts, failure, tokens);
        }
    }

    /// <summary>Sends the requester a fault: no other reply follows.</summary>
    public async Task<Settlement> FaultAsync(TopicDelivery delivery, DeliveryAttempts attempts, EsbException failure, DeliveryTokens tokens)
    {
        var isAwaited = await delivery.Reply!(FaultReply.Of(attempts.Current, failure, time), tokens.Aborting);
        await journal.RecordAsync(attempts, isAwaited ? AuditKind.Replied : AuditKind.ReplyAbandoned, failure, tokens);
        return Settlement.Done;
    }

    private async Task<Settlement> ReplyAsync(
        TopicDelivery delivery,
        DeliveryAttempts attempts,
        AttemptOutcome outcome,
        DeliveryTokens tokens
    )
    {
        var answer =
            FilteredAnswer.Is(outcome.Answer) ? FilteredAnswer.ReplyTo(attempts.Current, time)
            : DuplicateNotice.Read(outcome.Answer) is null ? outcome.Answer
            : null;
        var kind =
            answer is null ? AuditKind.Delivered
            : await delivery.Reply!(answer, tokens.Aborting) ? AuditKind.Replied
            : AuditKind.ReplyAbandoned;
        await journal.DeliveredAsync(attempts, outcome.Answer, kind, AuditDurability.Written, tokens);
        return Settlement.Done;
    }

    private async Task<Settlement> ExpireAsync(DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        await journal.RecordAsync(attempts, AuditKind.Expired, null, tokens);
        return Settlement.Done;
    }

    private bool IsWanted(TopicDelivery delivery) => delivery.ExpiresAt is not { } end || time.GetUtcNow() < end;

    private EndpointException Closed() =>
        new(
            config.Name,
            "ESB-ENDPOINT-PAUSED",
            $"The endpoint '{config.Name}' is paused, its outside is away: {gate.Reason}",
            isTransient: true,
            kind: FaultKind.Unavailable
        );
}
