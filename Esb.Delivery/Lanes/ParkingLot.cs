using Esb.Core.Alerts;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Delivery.Attempts;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Lanes;

/// <summary>Parks messages in the line of their key, and records it. Thread-safe.</summary>
internal sealed partial class ParkingLot(
    OutboundEndpointConfig config,
    IParkingStore store,
    Patience patience,
    DeliveryJournal journal,
    TimeProvider time,
    ILogger<ParkingLot> logger
)
{
    /// <summary>True if a message stays parked after its last attempt.</summary>
    public bool ParksForGood => config.OnFailure is null or FailureAction.Park;

    /// <summary>Appends a message to the line of its key; false if the line no longer exists.</summary>
    public async Task<bool> TryJoinAsync(Lane lane, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        var key = LineKey.Of(attempts.Current);
        if (!lane.MayBeParked(key))
            return false;
        var waiting = new ParkedMessage(attempts.Current, time.GetUtcNow(), attempts.Failures, DueAt: null);
        if (!await patience.InsistAsync(() => store.TryJoinAsync(lane.Owner, waiting, tokens.Aborting), tokens.Waiting))
        {
            lane.Free(key);
            return false;
        }

        await journal.RecordAsync(attempts, AuditKind.Parked, null, tokens);
        return true;
    }

    /// <summary>True if earlier messages of the same key are parked.</summary>
    public async Task<bool> IsParkedAsync(Lane lane, EsbMessage message, DeliveryTokens tokens)
    {
        var key = LineKey.Of(message);
        if (!lane.MayBeParked(key))
            return false;
        if (await patience.InsistAsync(() => store.FirstAsync(lane.Owner, key, tokens.Aborting), tokens.Waiting) is not null)
            return true;
        lane.Free(key);
        return false;
    }

    /// <summary>Parks a message that failed: until its next attempt, or until an operator decides.</summary>
    public async Task ParkAsync(Lane lane, DeliveryAttempts attempts, EsbException failure, TimeSpan? delay, DeliveryTokens tokens)
    {
        var now = time.GetUtcNow();
        // a released message starts with zero hops
        var message = delay is null ? MessageHops.Set(attempts.Current, hops: 0) : attempts.Current;
        var parked = new ParkedMessage(message, now, attempts.Failures, now + delay);
        await patience.InsistAsync(() => store.ParkAsync(lane.Owner, parked, tokens.Aborting), tokens.Leaving);
        lane.Park(LineKey.Of(attempts.Current));
        await journal.RecordAsync(attempts, AuditKind.Parked, failure, tokens);
        if (delay is null)
            Tell(attempts, failure);
    }

    /// <summary>The first message of a key if it is due; otherwise null.</summary>
    public async Task<ParkedMessage?> FirstDueAsync(Lane lane, string key, DeliveryTokens tokens)
    {
        var first = await patience.InsistAsync(() => store.FirstAsync(lane.Owner, key, tokens.Aborting), tokens.Waiting);
        if (first is null)
            lane.Free(key);
        return first?.DueAt <= time.GetUtcNow() ? first : null; // a release marker may arrive late or twice
    }

    /// <summary>Keeps a message at the head of its line after another failed attempt.</summary>
    public async Task RescheduleAsync(
        Lane lane,
        ParkedMessage parked,
        DeliveryAttempts attempts,
        EsbException failure,
        TimeSpan? delay,
        DeliveryTokens tokens
    )
    {
        var changed = parked with { Message = attempts.Current, Failures = attempts.Failures, DueAt = time.GetUtcNow() + delay };
        await patience.InsistAsync(() => store.RescheduleAsync(lane.Owner, changed, tokens.Aborting), tokens.Leaving);
        if (delay is null)
            Tell(attempts, failure);
    }

    /// <summary>Removes a processed message from its line. Retries until it succeeds, because the message would be processed
    /// again.</summary>
    /// <returns>True if the key is free.</returns>
    public async Task<bool> RemoveAsync(Lane lane, ParkedMessage parked, DeliveryTokens tokens)
    {
        var isFree = await patience.InsistAsync(() => store.RemoveAsync(lane.Owner, parked, tokens.Aborting), tokens.Leaving);
        if (isFree)
            lane.Free(LineKey.Of(parked.Message));
        return isFree;
    }

    private void Tell(DeliveryAttempts attempts, EsbException failure)
    {
        var reason = FailureReport.Of(failure);
        LogParked(attempts.Current.Id, config.Name, attempts.Count, failure.Code, reason);
        journal.Alerts?.Raise(new Alert(AlertKinds.Parked, config.Name, failure.Code, reason, attempts.Current.Id));
        DeliveryTelemetry.CountParked(config.Name, attempts.Current, failure.Code);
    }

    [LoggerMessage(
        EventId = 2442,
        Level = LogLevel.Error,
        Message = "Message {MessageId} was given up by {Endpoint} after {Attempts} attempts; its key is parked until an operator "
            + "decides: {Code}: {Reason}"
    )]
    private partial void LogParked(Guid messageId, string endpoint, int attempts, string code, string reason);
}
