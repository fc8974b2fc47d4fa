using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Failures;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Lanes;

/// <summary>Processes the parked messages of a released key within their lane, and so in order with new deliveries. Processes a limited
/// number at a time, so that other keys of the lane do not wait.</summary>
internal sealed class LineRelease(
    OutboundEndpointConfig config,
    LaneBook lanes,
    ParkingLot parking,
    Attempter attempter,
    LastResort lastResort,
    DeadLetterKeeper letters,
    Patience patience,
    IEndpointQueues queues,
    DeliveryJournal journal,
    TimeProvider time
)
{
    private const int MostAtOnce = 16;
    private static readonly TimeSpan LongestAtOnce = TimeSpan.FromSeconds(1);

    public async Task<Settlement> RunAsync(Lane lane, TopicDelivery release, DeliveryTokens tokens)
    {
        var key = LineKey.Of(release.Message);
        var started = time.GetTimestamp();
        for (var count = 0; count < MostAtOnce && time.GetElapsedTime(started) < LongestAtOnce; count++)
        {
            if (await parking.FirstDueAsync(lane, key, tokens) is not { } parked)
                return Settlement.Done;
            if (!await TryNextAsync(lane, parked, release.Redeliveries > 0, tokens))
                return Settlement.Done;
        }

        // Queued behind later deliveries. If the marker is lost, the key becomes due again soon.
        await queues.SendAsync(config.Name, ReleaseMarker.Of(config.Name, key, time), DeliveryKind.Release, tokens.Leaving);
        return Settlement.Done;
    }

    // Returns true if the next message may follow now.
    private async Task<bool> TryNextAsync(Lane lane, ParkedMessage parked, bool isSuspect, DeliveryTokens tokens)
    {
        MaskedFlow.Follow(journal.Mask, parked.Message);
        var attempts = new DeliveryAttempts(parked.Message, parked.Failures, time);
        var result = await attempter.RunAsync(attempts, isSuspect, () => lanes.VerifyAsync(lane, tokens.Waiting), keep: null, tokens);
        if (result.Failure is { } failure)
        {
            var delay = (result.Next as NextAttempt.After)?.Delay;
            if (delay is not null || parking.ParksForGood)
            {
                await parking.RescheduleAsync(lane, parked, attempts, failure, delay, tokens);
                return false;
            }

            await GiveUpAsync(attempts, failure, tokens);
        }
        else
        {
            await journal.DeliveredAsync(attempts, result.Answer, AuditKind.Delivered, AuditDurability.Flushed, tokens);
        }

        return !await parking.RemoveAsync(lane, parked, tokens);
    }

    // Stored immediately: the released message is not the delivery, so the transport cannot move it.
    private async Task GiveUpAsync(DeliveryAttempts attempts, EsbException failure, DeliveryTokens tokens)
    {
        if (await lastResort.SettleAsync(attempts, failure, tokens) is Settlement.Divert divert)
            await patience.InsistAsync(() => letters.KeepAsync(divert.Letter, tokens.Aborting).AsTask(), tokens.Leaving);
    }
}
