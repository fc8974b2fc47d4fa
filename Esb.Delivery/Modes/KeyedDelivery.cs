using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Failures;
using Esb.Delivery.Lanes;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Modes;

/// <summary>Delivers the messages of each key in order. A failed message and all later messages of its key are parked; other keys are not
/// affected.</summary>
internal sealed class KeyedDelivery(
    OutboundEndpointConfig config,
    RetryLadder ladder,
    LaneBook lanes,
    ParkingLot parking,
    LineRelease releases,
    AttemptBook book,
    Attempter attempter,
    RequestDelivery requests,
    LastResort lastResort,
    DeliveryJournal journal,
    TimeProvider time
) : IDeliveryMode
{
    public Task<Settlement> DeliverAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens) =>
        InLaneAsync(delivery, lane => DeliverAsync(lane, delivery, attempts, tokens), tokens);

    public Task<Settlement> ReleaseAsync(TopicDelivery delivery, DeliveryTokens tokens) =>
        InLaneAsync(delivery, lane => releases.RunAsync(lane, delivery, tokens), tokens);

    private async Task<Settlement> DeliverAsync(Lane lane, TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        if (delivery.Reply is not null)
            return await AnswerAsync(lane, delivery, attempts, tokens);
        await book.ResumeAsync(delivery, attempts, ladder.Longest, tokens.Waiting);
        var settlement = await ParkOrSendAsync(lane, delivery, attempts, tokens);
        await book.ForgetAsync(delivery);
        return settlement;
    }

    private async Task<Settlement> ParkOrSendAsync(Lane lane, TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        if (await parking.TryJoinAsync(lane, attempts, tokens))
            return Settlement.Done;
        var result = await attempter.RunAsync(
            attempts,
            delivery.Redeliveries > 0,
            () => lanes.VerifyAsync(lane, tokens.Waiting),
            KeepAsync,
            tokens
        );
        if (result.Failure is not { } failure)
        {
            await journal.DeliveredAsync(attempts, result.Answer, AuditKind.Delivered, AuditDurability.Flushed, tokens);
            return Settlement.Done;
        }

        var delay = (result.Next as NextAttempt.After)?.Delay;
        if (delay is null && !parking.ParksForGood)
            return await lastResort.SettleAsync(attempts, failure, tokens);
        await parking.ParkAsync(lane, attempts, failure, delay, tokens);
        return Settlement.Done;

        // Between immediate attempts; any other failure is stored with the parked message.
        Task KeepAsync(NextAttempt next) =>
            next is NextAttempt.Now ? book.KeepAsync(delivery, attempts, delay: null, tokens.Aborting) : Task.CompletedTask;
    }

    // A request cannot be parked: its requester would time out.
    private async Task<Settlement> AnswerAsync(Lane lane, TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        if (!await parking.IsParkedAsync(lane, delivery.Message, tokens))
            return await requests.AnswerAsync(delivery, attempts, tokens);
        var failure = new EndpointException(
            config.Name,
            "ESB-ENDPOINT-PARKED",
            $"Earlier messages of the same key wait at the endpoint '{config.Name}'.",
            isTransient: true,
            kind: FaultKind.Unavailable
        );
        return await requests.FaultAsync(delivery, attempts, failure, tokens);
    }

    private async Task<Settlement> InLaneAsync(TopicDelivery delivery, Func<Lane, Task<Settlement>> work, DeliveryTokens tokens)
    {
        try
        {
            return await work(await lanes.OfAsync(delivery.Source, tokens.Waiting));
        }
        catch (EsbException ex) when (ex.Code == LaneBook.LostCode)
        {
            lanes.Lose(delivery.Source.Lane);
            await Task.Delay(Patience.Pace, time, tokens.Waiting);
            return Settlement.Return;
        }
    }
}
