using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay.Audited;

/// <summary>Replays recorded messages on the path of dead letters. Replays run one after the other, so that concurrent requests for the
/// same message send it once.</summary>
internal sealed partial class AuditReplayDesk(
    IAuditStore store,
    ReplayTargets targets,
    ReplayKeys keys,
    IEndpointQueues queues,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<AuditReplayDesk> logger
) : IAuditReplayDesk, IDisposable
{
    private const int MaxFacts = 1_000;

    private readonly SemaphoreSlim _gate = new(1);
    private readonly RecentReplays _recent = new(time);

    public EsbException? ObstacleAt(string endpoint, bool outOfOrder) => targets.ObstacleAt(endpoint, outOfOrder);

    public async Task<AuditReplay> ReplayAsync(AuditReplayRequest request, OperatorDecision decision, CancellationToken cancellationToken)
    {
        if (ObstacleAt(request.Endpoint, request.OutOfOrder) is { } obstacle)
            throw obstacle;
        await _gate.WaitAsync(cancellationToken);
        try
        {
            return await ReplayOnceAsync(request, decision, cancellationToken);
        }
        finally
        {
            _gate.Release();
        }
    }

    public void Dispose() => _gate.Dispose();

    private async Task<AuditReplay> ReplayOnceAsync(
        AuditReplayRequest request,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        var recorded = new RecordedMessage(request.Endpoint, request.Fact);
        foreach (var fact in _recent.Of(request.MessageId))
            recorded.Look(fact); // the store may not return them yet
        await foreach (var fact in store.FindAsync(new AuditQuery { MessageId = request.MessageId, Limit = MaxFacts }, cancellationToken))
            recorded.Look(fact);
        if (request.Command is not null && recorded.Commands.TryGetValue(request.Command, out var done))
            return ReceiptOf(done);
        if (recorded.Replay is { } replay && !request.Again)
            throw AuditReplayErrors.Already(replay);

        var (message, source) = recorded.Get(request.MessageId);
        var made = await SendAsync(keys.WithKey(message), source, request, decision, cancellationToken);
        LogReplayed(request.MessageId, request.Endpoint, decision.By, decision.Reason);
        return ReceiptOf(made);
    }

    private async Task<AuditFact> SendAsync(
        EsbMessage message,
        AuditFact source,
        AuditReplayRequest request,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        using var activity = ReplayTelemetry.Start(null, message, request.Endpoint, job: null);
        var begun = AuditFacts.Of(message, AuditKind.Replayed, time); // the message may be delivered before its confirm arrives
        var result = await queues.SendAsync(request.Endpoint, message, DeliveryKind.Replay, cancellationToken);
        if (result.Outcome != PublishOutcome.Confirmed)
            throw new EsbException(
                "ESB-RPL-UNCONFIRMED",
                $"The message {message.Id} was not confirmed: {result.Reason ?? "nothing is known of it"}.",
                FaultKind.Unavailable
            );

        ReplayTelemetry.CountReplayed(request.Endpoint);
        var fields = new Dictionary<string, string> { ["operator"] = decision.By, [RecordedMessage.SourceField] = source.Id.ToString() };
        if (request.Command is not null)
            fields[RecordedMessage.CommandField] = request.Command;
        var fact = begun with { Endpoint = request.Endpoint, Reason = decision.Reason, Fields = fields };
        _recent.Add(fact);
        try
        {
            await audit.RecordAsync(fact, CancellationToken.None); // the message is queued, even if the caller disconnects
        }
        catch (EsbException ex)
        {
            throw AuditFaults.Unrecorded(ex);
        }

        return fact;
    }

    private static AuditReplay ReceiptOf(AuditFact fact) =>
        new(fact.MessageId, fact.Endpoint!, Guid.Parse(fact.Fields[RecordedMessage.SourceField]), fact.Time);

    [LoggerMessage(
        EventId = 2650,
        Level = LogLevel.Information,
        Message = "Message {MessageId} was replayed from the audit to {Endpoint} by {Operator}: {Reason}"
    )]
    private partial void LogReplayed(Guid messageId, string endpoint, string @operator, string? reason);
}
