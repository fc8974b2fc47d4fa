using System.Globalization;
using System.Runtime.CompilerServices;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Delivery.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Intake;

/// <summary>The intake of one inbound endpoint: runs the configured process or publish on each message, and records the outcome.</summary>
/// <param name="config">The endpoint.</param>
/// <param name="run">The process or the publish.</param>
/// <param name="needsTopics">True if it fails while the topics accept no messages.</param>
/// <param name="isDurable">True if accepted messages survive a restart of the process.</param>
/// <param name="state">The counters.</param>
/// <param name="content">The message content to record.</param>
/// <param name="audit">Records the facts.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">The log.</param>
internal sealed partial class MessageIntake(
    InboundEndpointConfig config,
    MessageStep run,
    bool needsTopics,
    bool isDurable,
    IntakeState state,
    IntakeContent content,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<MessageIntake> logger
) : IMessageIntake
{
    private readonly RefusalPace _pace = new(time);
    private volatile bool _cannotRecord;

    public bool NeedsTopics => needsTopics;

    /// <summary>True if its callers wait for answers, and nothing is accepted on the way to them: the facts of an exchange are then
    /// recorded together, before the answer, and flushed behind it.</summary>
    public bool OnlyAnswers { get; init; }

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken) =>
        TakeAsync(message, unitOfWork: null, cancellationToken);

    public ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken) =>
        TakeAsync(message, unitOfWork, cancellationToken);

    public ValueTask RefuseAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        CountAsync(IntakeOutcomes.Refused, AuditKind.Refused, message, code, reason, cancellationToken);

    public ValueTask AbortAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        CountAsync(IntakeOutcomes.Aborted, AuditKind.Aborted, message, code, reason, cancellationToken);

    public ValueTask RecognizeAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken) =>
        CountAsync(IntakeOutcomes.Duplicate, AuditKind.Duplicate, message, code, reason, cancellationToken);

    /// <summary>The failure of a request that timed out.</summary>
    public static EsbException TimedOut(InboundEndpointConfig config, Exception cause) =>
        new(config.TimeoutCode, $"There was no answer within {config.Timeout.TotalSeconds:0.###} s.", FaultKind.Timeout, cause);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<IntakeResult> TakeAsync(EsbMessage message, IUnitOfWork? unitOfWork, CancellationToken cancellationToken)
    {
        message = OfParty(message);
        var context = new MessageContext(message, config.Name)
        {
            UnitOfWork = unitOfWork,
            IsRequest = config.Mode == ExchangePattern.RequestReply,
            Steps = content.HasSteps ? new StepLog(time, content.HasTransforms) : null,
        };
        MaskedFlow.Follow(audit.Mask, context);
        var held = HoldsFacts(message, unitOfWork) ? new List<AuditRecord>(2) : null;
        var started = time.GetTimestamp();
        var outcome = IntakeOutcomes.Failed;
        var began = state.Begin();
        try
        {
            if (content.ReadsReceived)
                await content.BufferAsync(message, cancellationToken);
            if (held is null)
                await RecordAndRunAsync(context, cancellationToken);
            else
                await HoldAndRunAsync(context, held, cancellationToken);
            outcome = OutcomeOf(context);
            var result = ResultOf(context);
            await RecordEndAsync(context, held, EndOf(context, outcome), time.GetElapsedTime(started), cancellationToken);
            return result;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            outcome = IntakeOutcomes.Aborted;
            await RecordFailureAsync(
                context,
                held,
                AuditKind.Aborted,
                "ESB-INTAKE-ABORTED",
                "The sender hung up, or the host stopped, before the message was done with."
            );
            throw;
        }
        catch (EsbException ex)
        {
            outcome = IsRefusal(ex.Kind) ? IntakeOutcomes.Refused : IntakeOutcomes.Failed;
            await RecordFailureAsync(
                context,
                held,
                IsRefusal(ex.Kind) ? AuditKind.Refused : AuditKind.Failed,
                ex.Code,
                FailureReport.Of(ex)
            );
            throw;
        }
        catch (Exception ex)
        {
            LogFailed(message.Id, config.Name, context.Process, ex);
            var failure = new EsbException("ESB-PROC-FAILED", "The process of the message failed.", FaultKind.Internal, ex);
            await RecordFailureAsync(context, held, AuditKind.Failed, failure.Code, failure.Message);
            throw failure;
        }
        finally
        {
            state.End(outcome, message.Party);
            if (context.FirstPublish is { } publish && (publish.ConfirmedAt is not null || !IntakeOutcomes.IsFailure(outcome)))
                state.Published(began, publish, message.Party);
            if (config.Mode == ExchangePattern.RequestReply)
                state.Answered(began, outcome, message.Party);
        }
    }

    private async ValueTask CountAsync(
        string outcome,
        AuditKind kind,
        EsbMessage message,
        string code,
        string reason,
        CancellationToken cancellationToken
    )
    {
        message = OfParty(message);
        MaskedFlow.Follow(audit.Mask, message);
        state.Count(outcome, message.Party);
        if (kind == AuditKind.Refused)
            Tell(message.Id, kind, code, reason);
        await audit.RecordAsync(Fact(message, kind) with { Code = code, Reason = reason }, message, cancellationToken);
    }

    private EsbMessage OfParty(EsbMessage message) =>
        message.Party is null && config.Party is { } party ? message with { Party = party } : message;

    // Records and runs concurrently: the sender waits for the slower of the two, and is answered only after both. After a recording failure
    // the two run in sequence until a fact is recorded again, so that no unrecorded message is processed.
    private async Task RecordAndRunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        var received = RecordReceivedAsync(context);
        if (_cannotRecord || received.IsFaulted)
            await received;
        try
        {
            if (config.Mode == ExchangePattern.RequestReply)
                await RunInTimeAsync(context, cancellationToken);
            else
                await run(context, cancellationToken);
        }
        catch
        {
            await received.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing); // the failure of the message itself is more useful
            throw;
        }

        try
        {
            await received;
        }
        catch (EsbException ex)
        {
            throw AuditFaults.Unrecorded(ex);
        }
    }

    // After a recording failure, or where each fact has to be durable first, the receipt is recorded before the process.
    private bool HoldsFacts(EsbMessage message, IUnitOfWork? unitOfWork) =>
        OnlyAnswers && unitOfWork is null && !message.IsAnswerKept && !_cannotRecord && !audit.RecordsFirst(config.Name);

    private ValueTask HoldAndRunAsync(MessageContext context, List<AuditRecord> held, CancellationToken cancellationToken)
    {
        held.Add(new AuditRecord(Fact(context.Received, AuditKind.Received), context.Received));
        return RunInTimeAsync(context, cancellationToken);
    }

    private async Task RecordReceivedAsync(MessageContext context)
    {
        try
        {
            await audit.RecordAsync(Fact(context.Received, AuditKind.Received), context.Received, CancellationToken.None);
            _cannotRecord = false;
        }
        catch
        {
            _cannotRecord = true;
            throw;
        }
    }

    // The final fact of a process, if neither a failure nor a published message records its end.
    private AuditKind? EndOf(MessageContext context, string outcome) =>
        outcome switch
        {
            IntakeOutcomes.Filtered => AuditKind.Filtered,
            _ when context.Outcome == ProcessOutcome.Held => null, // the step that holds it has recorded it
            _ when config.EntryProcess is null => null, // the publish fact includes the answer
            IntakeOutcomes.Replied => AuditKind.Replied,
            _ => context.FirstPublish is null ? AuditKind.Completed : null,
        };

    // Records concurrently, so that the facts share a flush; what was held, together with them.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask RecordEndAsync(
        MessageContext context,
        List<AuditRecord>? held,
        AuditKind? end,
        TimeSpan duration,
        CancellationToken cancellationToken
    )
    {
        if (end is null && context.Steps is null && held is null)
            return;
        if (end == AuditKind.Replied && content.HasReply)
            await content.BufferAsync(context.Message, cancellationToken);
        try
        {
            if (held is null)
            {
                await Task.WhenAll(
                    RecordStepsAsync(context),
                    end is { } kind ? RecordAsync(EndRecord(context, kind, duration)) : Task.CompletedTask
                );
            }
            else
            {
                HoldSteps(context, held);
                if (end is { } last)
                    held.Add(EndRecord(context, last, duration));
                await RecordHeldAsync(context, held);
            }
        }
        catch (EsbException ex)
        {
            if (held is not null && end is not null)
                held.RemoveAt(held.Count - 1); // a failure takes its place
            throw AuditFaults.Unrecorded(ex);
        }
    }

    // The fact concerns the received message; the answer is its result.
    private AuditRecord EndRecord(MessageContext context, AuditKind end, TimeSpan duration) =>
        new(Fact(context.Received, end, duration), end == AuditKind.Replied && content.HasReply ? context.Message : null);

    // Recorded even if the caller disconnects.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask RecordHeldAsync(MessageContext context, List<AuditRecord> held)
    {
        try
        {
            var published = context.FirstPublish is not null; // by an endpoint that the process called
            await audit.RecordAsync(held, published ? AuditDurability.Flushed : AuditDurability.Written, CancellationToken.None);
            _cannotRecord = false;
        }
        catch
        {
            _cannotRecord = true;
            throw;
        }
    }

    private static void HoldSteps(MessageContext context, List<AuditRecord> held)
    {
        if (context.Steps is { } steps)
            held.AddRange(steps.Take().Select(step => new AuditRecord(step.Fact, step.Content)));
    }

    // Recorded even if the caller disconnects.
    private Task RecordAsync(AuditRecord record) =>
        (
            record.Content is { } recorded
                ? audit.RecordAsync(record.Fact, recorded, CancellationToken.None)
                : audit.RecordAsync(record.Fact, CancellationToken.None)
        ).AsTask();

    private Task RecordStepsAsync(MessageContext context) =>
        context.Steps is { } steps
            ? Task.WhenAll(steps.Take().Select(step => RecordAsync(new AuditRecord(step.Fact, step.Content))))
            : Task.CompletedTask;

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask RunInTimeAsync(MessageContext context, CancellationToken cancellationToken)
    {
        using var limit = new TimeLimit(config.Timeout, time, cancellationToken);
        try
        {
            await run(context, limit.Token);
        }
        catch (OperationCanceledException ex) when (limit.IsOver)
        {
            throw TimedOut(config, ex);
        }
    }

    private string OutcomeOf(MessageContext context)
    {
        if (context.Outcome == ProcessOutcome.Filtered)
            return IntakeOutcomes.Filtered;
        return config.Mode == ExchangePattern.RequestReply ? IntakeOutcomes.Replied : IntakeOutcomes.Accepted;
    }

    private IntakeResult ResultOf(MessageContext context)
    {
        var isAnswered = config.Mode == ExchangePattern.RequestReply && context.Outcome != ProcessOutcome.Filtered;
        return new IntakeResult(
            context.AnsweredAs ?? context.Received.Id,
            isAnswered ? context.Message : null,
            isAnswered ? ProcessStatus.Of(context) : null,
            isDurable || (context.Outcome == ProcessOutcome.Held && context.FirstPublish is null), // the store keeps it
            context.Settled
        );
    }

    private static bool IsRefusal(FaultKind kind) => kind is FaultKind.Malformed or FaultKind.Invalid or FaultKind.TooLarge;

    private AuditFact Fact(EsbMessage message, AuditKind kind, TimeSpan? duration = null) =>
        AuditFacts.Of(message, kind, time, config.Name, config.EntryProcess, duration, revision: audit.Revision);

    private async ValueTask RecordFailureAsync(MessageContext context, List<AuditRecord>? held, AuditKind kind, string code, string reason)
    {
        if (kind != AuditKind.Aborted)
            Tell(context.Received.Id, kind, code, reason);
        try
        {
            var fact = Fact(context.Received, kind) with { Code = code, Reason = reason, Step = context.FailedStep };
            if (held is null)
            {
                await Task.WhenAll(RecordStepsAsync(context), audit.RecordAsync(fact, CancellationToken.None).AsTask());
                return;
            }

            HoldSteps(context, held);
            held.Add(new AuditRecord(fact));
            await RecordHeldAsync(context, held);
        }
        catch (EsbException ex)
        {
            LogNotRecorded(context.Received.Id, config.Name, code, ex); // the sender receives the failure itself
        }
    }

    // A caller that repeats its mistake must not fill the log.
    private void Tell(Guid messageId, AuditKind kind, string code, string reason)
    {
        if (!_pace.IsDue(code, out var suppressed))
            return;
        var level = kind == AuditKind.Refused ? LogLevel.Information : LogLevel.Warning;
        var others =
            suppressed == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $" ({suppressed} more of this code since the last line)");
        var (outcome, shown) = (kind == AuditKind.Refused ? "was refused" : "failed", MaskedFlow.Clean(reason));
        LogCallFailed(level, messageId, config.Name, outcome, code, shown, others);
    }

    [LoggerMessage(EventId = 2503, Message = "Message {MessageId} of {Endpoint} {Outcome}: {Code}: {Reason}{Others}")]
    private partial void LogCallFailed(
        LogLevel level,
        Guid messageId,
        string endpoint,
        string outcome,
        string code,
        string reason,
        string others
    );

    [LoggerMessage(EventId = 2501, Level = LogLevel.Error, Message = "Message {MessageId} of {Endpoint} failed in {Process}")]
    private partial void LogFailed(Guid messageId, string endpoint, string process, Exception exception);

    [LoggerMessage(
        EventId = 2502,
        Level = LogLevel.Warning,
        Message = "The failure {Code} of message {MessageId} of {Endpoint} could not be recorded"
    )]
    private partial void LogNotRecorded(Guid messageId, string endpoint, string code, Exception exception);
}
