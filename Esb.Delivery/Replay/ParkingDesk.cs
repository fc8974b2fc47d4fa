using Esb.Core.Audit;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>Carries out operators' decisions about parked and blocked messages, and records them.</summary>
internal sealed partial class ParkingDesk(
    IParkingStore parking,
    Standstills standstills,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<ParkingDesk> logger
) : IParkingDesk
{
    private const string WholeEndpoint = "(the whole endpoint)";
    private const int DiscardGroup = 100;

    public async Task<IReadOnlyList<WaitingLine>> ListAsync(
        string? endpoint,
        WaitingPosition? after,
        int limit,
        CancellationToken cancellationToken
    )
    {
        var standing = after?.Key is null ? await StandingAsync(endpoint, after, cancellationToken) : [];
        if (standing.Count >= limit)
            return standing.Slice(0, limit);
        var behind = after is { Key: { } key } ? new ParkedPosition(after.Since, after.Endpoint, key) : null;
        var keys = await parking.ListAsync(endpoint, behind, limit - standing.Count, cancellationToken);
        return
        [
            .. standing,
            .. keys.Select(parked => new WaitingLine(
                parked.Endpoint,
                parked.Key,
                parked.Count,
                parked.Since,
                parked.DueAt,
                parked.Failure
            )),
        ];
    }

    public async Task<IReadOnlyList<WaitingMessage>> MessagesAsync(
        string endpoint,
        string? key,
        long after,
        int limit,
        CancellationToken cancellationToken
    )
    {
        if (key is null)
            return
            [
                .. (await standstills.ListAsync(endpoint, cancellationToken)).Select(one => new WaitingMessage(
                    one.At.MessageId,
                    null,
                    null,
                    null,
                    one.At.Since,
                    null,
                    [one.At.Failure]
                )),
            ];
        var messages = await parking.MessagesAsync(endpoint, key, after, limit, cancellationToken);
        return
        [
            .. messages.Select(parked => new WaitingMessage(
                parked.Message.Id,
                parked.Message.Subject,
                parked.Message.ContentType,
                parked.Message.Body.Length,
                parked.ParkedAt,
                parked.DueAt,
                parked.Failures
            )
            {
                Number = parked.Number,
                Headers = new Dictionary<string, string>(parked.Message.Headers),
            }),
        ];
    }

    public async Task<EsbMessage?> FindAsync(string endpoint, string key, Guid messageId, CancellationToken cancellationToken) =>
        (await parking.FindAsync(endpoint, key, messageId, cancellationToken))?.Message;

    public async Task<bool> ReleaseAsync(string endpoint, string? key, OperatorDecision decision, CancellationToken cancellationToken)
    {
        var released = key is not null
            ? await parking.ReleaseAsync(endpoint, key, cancellationToken)
            : await standstills.MoveOnAsync(endpoint, messageId: null, discard: false, decision, cancellationToken);
        if (released)
            LogReleased(endpoint, key ?? WholeEndpoint, decision.By, decision.Reason);
        return released;
    }

    public async Task<long> DiscardAsync(
        string endpoint,
        string? key,
        Guid? messageId,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        var count = key is null
            ? await DiscardFirstAsync(endpoint, messageId, decision, cancellationToken)
            : await DiscardParkedAsync(endpoint, key, messageId, decision, cancellationToken);
        if (count > 0)
            LogDiscarded(count, endpoint, key ?? WholeEndpoint, decision.By, decision.Reason);
        return count;
    }

    private async Task<List<WaitingLine>> StandingAsync(string? endpoint, WaitingPosition? after, CancellationToken cancellationToken) =>
        [
            .. (await standstills.ListAsync(endpoint, cancellationToken))
                .Select(one => new WaitingLine(one.Endpoint, null, 1, one.At.Since, null, one.At.Failure))
                .OrderBy(line => line.Since)
                .ThenBy(line => line.Endpoint, StringComparer.Ordinal)
                .Where(line => after is null || IsBehind(line, after)),
        ];

    private static bool IsBehind(WaitingLine line, WaitingPosition place) =>
        line.Since > place.Since || (line.Since == place.Since && string.CompareOrdinal(line.Endpoint, place.Endpoint) > 0);

    // Discards from the end: the first message, whose removal makes the key due, is removed last, so that nothing is released in between.
    // Records before it discards: a surplus fact is harmless, a missing one cannot be replaced. Messages that join the line after the last
    // group are kept.
    private async Task<long> DiscardParkedAsync(
        string endpoint,
        string key,
        Guid? messageId,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        var total = 0L;
        IReadOnlyList<ParkedSummary> group;
        do
        {
            group = await parking.SummariesAsync(endpoint, key, messageId, DiscardGroup, cancellationToken);
            await Task.WhenAll(group.Select(parked => RecordAsync(parked, endpoint, decision).AsTask()));
            if (group.Count > 0)
                total += await parking.DiscardAsync(endpoint, key, [.. group.Select(parked => parked.MessageId)], CancellationToken.None);
        } while (group.Count == DiscardGroup);

        return total;
    }

    // The endpoint itself records the discard.
    private async Task<long> DiscardFirstAsync(
        string endpoint,
        Guid? messageId,
        OperatorDecision decision,
        CancellationToken cancellationToken
    ) => await standstills.MoveOnAsync(endpoint, messageId, discard: true, decision, cancellationToken) ? 1 : 0;

    // A started group is completed, even if the caller disconnects.
    private ValueTask RecordAsync(ParkedSummary parked, string endpoint, OperatorDecision decision)
    {
        var now = time.GetUtcNow();
        var message = new EsbMessage
        {
            Id = parked.MessageId,
            ConversationId = parked.ConversationId,
            CreatedAt = now,
            Subject = parked.Subject,
            Attempt = parked.Attempt,
            Party = parked.Party,
        };
        return audit.RecordAsync(
            AuditFacts.Of(message, AuditKind.Discarded, time) with
            {
                Endpoint = endpoint,
                Reason = decision.Reason,
                Fields = new Dictionary<string, string> { ["operator"] = decision.By },
            },
            CancellationToken.None
        );
    }

    [LoggerMessage(
        EventId = 2640,
        Level = LogLevel.Information,
        Message = "The parked messages of {Key} at {Endpoint} were released by {Operator}: {Reason}"
    )]
    private partial void LogReleased(string endpoint, string key, string @operator, string? reason);

    [LoggerMessage(
        EventId = 2641,
        Level = LogLevel.Information,
        Message = "{Count} parked messages of {Key} at {Endpoint} were discarded by {Operator}: {Reason}"
    )]
    private partial void LogDiscarded(long count, string endpoint, string key, string @operator, string? reason);
}
