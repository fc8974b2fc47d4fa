using Esb.Core.Alerts;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Delivery.Attempts;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Outbound;

/// <summary>Records the outcomes of an endpoint's messages: audit facts, metrics, log lines. Thread-safe.</summary>
internal sealed partial class DeliveryJournal(
    string endpoint,
    IAuditTrail audit,
    DeliveryState state,
    Patience patience,
    TimeProvider time,
    ILogger<DeliveryJournal> logger
)
{
    private readonly DuplicateRecords _duplicates = new(endpoint, audit, time, logger);

    /// <summary>Raises alerts; null if alerts are off.</summary>
    public IAlerts? Alerts { get; init; }

    /// <summary>The mask applied to everything recorded.</summary>
    public IMessageMask Mask => audit.Mask;

    /// <summary>Records a delivered message. Retries until recorded: returning the message to its queue would send it to the external
    /// system again.</summary>
    /// <param name="attempts">The message and its attempts.</param>
    /// <param name="answer">The answer of the external system; null if it gives none.</param>
    /// <param name="kind">The outcome.</param>
    /// <param name="durability">State of the fact when the call returns: a request, which is lost with its requester, need not wait for the
    /// disk.</param>
    /// <param name="tokens">End waiting.</param>
    public async Task DeliveredAsync(
        DeliveryAttempts attempts,
        EsbMessage? answer,
        AuditKind kind,
        AuditDurability durability,
        DeliveryTokens tokens
    )
    {
        SendTelemetry.RecordDelivered(endpoint, attempts.Current, attempts.Elapsed);
        if (FilteredAnswer.Is(answer))
            kind = AuditKind.Filtered;
        var notice = DuplicateNotice.Read(answer);
        if (notice is { IsConflict: false } && attempts.IsUnknown)
            notice = null; // the effect of an earlier unanswered attempt
        var message = attempts.Current;
        var fact = Fact(message, kind) with { Duration = attempts.Elapsed };
        var content = kind is AuditKind.Replied or AuditKind.ReplyAbandoned ? answer ?? message : message;
        await patience.InsistAsync(
            () =>
                (
                    notice is null
                        ? RecordAsync(fact, content, durability, tokens.Aborting)
                        : DuplicateAsync(message, notice, attempts.Elapsed, tokens.Aborting)
                ).AsTask(),
            tokens.Leaving
        );
        state.CountMessage();
    }

    /// <summary>Records that the endpoint had applied the message before.</summary>
    public ValueTask DuplicateAsync(EsbMessage message, DuplicateNotice notice, TimeSpan? duration, CancellationToken cancellationToken) =>
        _duplicates.RecordAsync(message, notice, duration, cancellationToken);

    /// <summary>Records that the endpoint's process filtered out the message of a call.</summary>
    public ValueTask FilteredAsync(EsbMessage message, CancellationToken cancellationToken) =>
        audit.RecordAsync(Fact(message, AuditKind.Filtered), cancellationToken);

    /// <summary>Records a failed attempt.</summary>
    public async Task FailedAsync(DeliveryAttempts attempts, EsbException failure, DeliveryTokens tokens)
    {
        state.CountFailure();
        var reason = FailureReport.Of(failure);
        LogFailed(attempts.Current.Id, endpoint, attempts.Count, failure.Code, reason);
        await RecordAsync(attempts, AuditKind.Failed, failure, tokens);
    }

    /// <summary>Records any other outcome.</summary>
    public ValueTask RecordAsync(DeliveryAttempts attempts, AuditKind kind, EsbException? failure, DeliveryTokens tokens) =>
        audit.RecordAsync(
            Fact(attempts.Current, kind) with
            {
                Duration = failure is null ? null : attempts.Elapsed,
                Code = failure?.Code,
                Reason = failure is null ? null : FailureReport.Of(failure),
                Step = (failure as EndpointException)?.Step,
            },
            tokens.Aborting
        );

    /// <summary>Records that an operator discarded the message.</summary>
    public ValueTask DiscardedAsync(DeliveryAttempts attempts, EsbException failure, OperatorDecision decision, DeliveryTokens tokens) =>
        audit.RecordAsync(
            Fact(attempts.Current, AuditKind.Discarded) with
            {
                Duration = attempts.Elapsed,
                Code = failure.Code,
                Reason = decision.Reason,
                Fields = new Dictionary<string, string> { ["operator"] = decision.By },
            },
            tokens.Aborting
        );

    private ValueTask RecordAsync(AuditFact fact, EsbMessage content, AuditDurability durability, CancellationToken cancellationToken) =>
        durability == AuditDurability.Flushed
            ? audit.RecordAsync(fact, content, cancellationToken)
            : audit.RecordAsync([new AuditRecord(fact, content)], durability, cancellationToken);

    private AuditFact Fact(EsbMessage message, AuditKind kind) => AuditFacts.Of(message, kind, time, endpoint, revision: audit.Revision);

    [LoggerMessage(
        EventId = 2401,
        Level = LogLevel.Debug,
        Message = "Message {MessageId} was not delivered by {Endpoint}, attempt {Attempt}: {Code}: {Reason}"
    )]
    private partial void LogFailed(Guid messageId, string endpoint, int attempt, string code, string reason);
}
