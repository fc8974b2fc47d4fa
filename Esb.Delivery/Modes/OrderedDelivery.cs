using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Failures;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Modes;

/// <summary>Delivers messages one after the other. A failed message is retried in place; after its last attempt the endpoint stops at the
/// message, or gives it up.</summary>
internal sealed partial class OrderedDelivery(
    OutboundEndpointConfig config,
    RetryLadder ladder,
    AttemptBook book,
    Attempter attempter,
    RequestDelivery requests,
    LastResort lastResort,
    Suspects suspects,
    DeliveryJournal journal,
    DeliveryState state,
    TimeProvider time,
    ILogger<OrderedDelivery> logger
) : IDeliveryMode
{
    // Bounds the load on the external system during a standstill, even with short retry delays.
    private static readonly TimeSpan ShortestPace = TimeSpan.FromSeconds(60);

    private volatile Standstill? _standstill;

    private bool StandsStill => config.OnFailure is null or FailureAction.Park;

    public async Task<Settlement> DeliverAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        if (delivery.Reply is not null)
            return await requests.AnswerAsync(delivery, attempts, tokens);
        await book.ResumeAsync(delivery, attempts, ladder.Longest, tokens.Waiting);
        var settlement = await RepeatAsync(delivery, attempts, tokens);
        await book.ForgetAsync(delivery);
        return settlement;
    }

    /// <summary>Applies an operator's decision to the message that blocks the endpoint.</summary>
    /// <returns>True if the endpoint is stopped at this message on this host.</returns>
    public bool TryMoveOn(Guid messageId, bool discard, OperatorDecision? decision) =>
        _standstill is { } standstill
        && standstill.MessageId == messageId
        && standstill.TryEnd(new StandstillEnd(discard ? MoveOn.Discard : MoveOn.Retry, decision));

    private async Task<Settlement> RepeatAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens)
    {
        while (true)
        {
            var result = await attempter.RunAsync(
                attempts,
                delivery.Redeliveries > 0,
                check: null,
                next => KeepAsync(delivery, attempts, next, tokens),
                tokens
            );
            if (result.Failure is not { } failure)
            {
                await journal.DeliveredAsync(attempts, result.Answer, AuditKind.Delivered, AuditDurability.Flushed, tokens);
                return Settlement.Done;
            }

            if (result.Next is NextAttempt.After after)
                await Task.Delay(after.Delay, time, tokens.Waiting);
            else if (!StandsStill)
                return await lastResort.SettleAsync(attempts, failure, tokens);
            else if (await StandStillAsync(attempts, failure, tokens) is { How: MoveOn.Discard } end)
                return await DiscardAsync(attempts, failure, end.Decision, tokens);
        }
    }

    // A message that is given up next needs no retry progress.
    private Task KeepAsync(TopicDelivery delivery, DeliveryAttempts attempts, NextAttempt next, DeliveryTokens tokens) =>
        next is NextAttempt.None && !StandsStill
            ? Task.CompletedTask
            : book.KeepAsync(delivery, attempts, (next as NextAttempt.After)?.Delay, tokens.Aborting);

    // Keeps the order: the message stays first in the queue and is retried periodically.
    private async Task<StandstillEnd> StandStillAsync(DeliveryAttempts attempts, EsbException failure, DeliveryTokens tokens)
    {
        var (message, failed) = (attempts.Current, attempts.Failures[^1]);
        var reason = MaskedFlow.Clean(failed.Reason);
        if (state.StandAt(message.Id, failed with { Reason = reason }))
            LogStopped(config.Name, message.Id, failure.Code, reason);
        var standstill = _standstill = new Standstill(message.Id);
        try
        {
            var end = await standstill.WaitAsync(PaceOf(failure), time, tokens.Waiting);
            if (end.How == MoveOn.Retry)
                await suspects.AbsolveAsync(config.Name, message.Id, tokens.Leaving);
            return end;
        }
        finally
        {
            _standstill = null;
        }
    }

    private async Task<Settlement> DiscardAsync(
        DeliveryAttempts attempts,
        EsbException failure,
        OperatorDecision? decision,
        DeliveryTokens tokens
    )
    {
        if (decision is null)
            await journal.RecordAsync(attempts, AuditKind.Discarded, failure, tokens);
        else
            await journal.DiscardedAsync(attempts, failure, decision, tokens);
        return Settlement.Done;
    }

    // A message that crashed the process is retried only on an operator's command.
    private TimeSpan PaceOf(EsbException failure)
    {
        if (failure.Code == Suspects.Code)
            return Timeout.InfiniteTimeSpan;
        return ladder.Longest > ShortestPace ? ladder.Longest : ShortestPace;
    }

    [LoggerMessage(
        EventId = 2403,
        Level = LogLevel.Error,
        Message = "Endpoint {Endpoint} stopped at message {MessageId} to keep the order: {Code}: {Reason}"
    )]
    private partial void LogStopped(string endpoint, Guid messageId, string code, string reason);
}
