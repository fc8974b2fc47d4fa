using System.Diagnostics;
using System.Globalization;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Itineraries;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Itineraries;

/// <summary>A stop in the running bus. Thread-safe.</summary>
/// <param name="plan">The stop.</param>
/// <param name="steps">Its steps.</param>
/// <param name="undo">What undoes the stops before it, the last one first.</param>
/// <param name="progress">Where messages are.</param>
/// <param name="letters">Keeps what failed for good.</param>
/// <param name="audit">Records stops.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">Logs failed compensations.</param>
internal sealed partial class StopRun(
    StopPlan plan,
    MessageStep steps,
    IReadOnlyList<(string Stop, MessageStep Run)> undo,
    ItineraryProgress progress,
    IDeadLetterChannel letters,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<StopRun> logger
)
{
    private readonly string _queue = HeldQueues.OfItinerary(plan.Itinerary);

    public async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        var (before, began) = (context.Message, time.GetTimestamp());
        var isQueued = context.Endpoint == _queue;
        if (isQueued && StopPlan.EndOf(context.Received.Headers[EsbHeaders.Itinerary]) is { } end && end < time.GetUtcNow())
        {
            await ExpireAsync(context, end, cancellationToken);
            return;
        }

        try
        {
            await steps(context, cancellationToken);
        }
        catch (Exception ex) when (undo.Count > 0 && IsFinal(ex, isQueued))
        {
            await UndoAsync(context, before, ex, isQueued, cancellationToken);
            if (!isQueued)
                throw;
            return;
        }

        await RecordAsync(context, "itinerary-stop", plan.Name, time.GetElapsedTime(began));
        if (isQueued && (plan.IsLast || context.Outcome != ProcessOutcome.Running))
            await progress.SaveAsync(RunOf(context, ItineraryState.Completed));
    }

    private async Task ExpireAsync(MessageContext context, DateTimeOffset end, CancellationToken cancellationToken)
    {
        var failure = new EsbException(
            "ESB-ITIN-EXPIRED",
            string.Create(
                CultureInfo.InvariantCulture,
                $"The message had until {end.UtcDateTime:yyyy-MM-dd HH:mm:ss} UTC for the itinerary '{plan.Itinerary}'."
            ),
            FaultKind.Invalid
        );
        var run = await progress.FindAsync(context.Received.Id, cancellationToken);
        if (run is { State: ItineraryState.Waiting } && run.Stop == StopPlan.StopOf(context.Received.Headers[EsbHeaders.Itinerary]))
        {
            await UndoAsync(context, context.Message, failure, isQueued: true, cancellationToken);
            return;
        }

        // A copy: the message itself is at a later stop, or has ended; its effects stay.
        context.Outcome = ProcessOutcome.Held;
        await KeepLetterAsync(
            context,
            context.Message,
            failure,
            failure.Code,
            $"Stop {plan.Name}: {failure.Message} This is a copy of it; nothing was undone."
        );
    }

    // In its queue a message is tried again after what may pass; anywhere else its sender is told at once, and may send it again.
    private static bool IsFinal(Exception failure, bool isQueued) =>
        !isQueued || failure is not (OperationCanceledException or EsbException { IsTransient: true });

    private async Task UndoAsync(
        MessageContext context,
        EsbMessage before,
        Exception failure,
        bool isQueued,
        CancellationToken cancellationToken
    )
    {
        var (failed, isWhole) = (context.FailedStep, true);
        foreach (var (stop, run) in undo)
        {
            (context.Message, context.Outcome, context.FailedStep) = (before, ProcessOutcome.Running, null);
            try
            {
                await run(context, isQueued ? cancellationToken : CancellationToken.None); // also where the sender has hung up
                await RecordAsync(context, "itinerary-compensated", stop, duration: null);
            }
            catch (OperationCanceledException) when (isQueued && cancellationToken.IsCancellationRequested)
            {
                throw; // the message comes again
            }
            catch (Exception ex)
            {
                isWhole = false;
                LogNotUndone(context.Received.Id, stop, plan.Itinerary, ex);
                await RecordAsync(context, "itinerary-compensation-failed", stop, duration: null, ex);
            }
        }

        (context.Message, context.FailedStep) = (before, failed);
        context.Outcome = isQueued ? ProcessOutcome.Held : ProcessOutcome.Running;
        if (isQueued)
            await BuryAsync(context, before, failure, isWhole);
    }

    // A record for people: what is undone cannot continue, the message is sent again from its source.
    private async Task BuryAsync(MessageContext context, EsbMessage message, Exception failure, bool isWhole)
    {
        var (code, text) = failure is EsbException known ? (known.Code, known.Message) : ("ESB-PROC-FAILED", "The stop failed.");
        var undone = string.Join(", ", undo.Select(one => one.Stop));
        var reason =
            undo.Count == 0 ? $"Stop {plan.Name}: {text}"
            : isWhole ? $"Stop {plan.Name}: {text} Undone: {undone}."
            : $"Stop {plan.Name}: {text} Not all of {undone} could be undone; see the log.";
        await KeepLetterAsync(context, message, failure, code, reason);
        await progress.SaveAsync(
            RunOf(context, isWhole ? ItineraryState.Compensated : ItineraryState.CompensationFailed) with
            {
                Code = code,
                Reason = FailedAttempts.Cut(MaskedFlow.Clean(text), DeadLetter.MaxReasonLength),
            }
        );
    }

    private async Task KeepLetterAsync(MessageContext context, EsbMessage message, Exception failure, string code, string reason)
    {
        var now = time.GetUtcNow();
        await letters.KeepAsync(
            new DeadLetter(
                message with
                {
                    Id = context.Received.Id,
                    Headers = message.Headers.Without(EsbHeaders.Itinerary),
                },
                _queue,
                code,
                FailedAttempts.Cut(MaskedFlow.Clean(reason), DeadLetter.MaxReasonLength),
                failure.GetType().FullName,
                Attempts: 1,
                now,
                now
            )
            {
                TraceParent = Activity.Current?.Id,
            },
            CancellationToken.None
        );
    }

    private ItineraryRun RunOf(MessageContext context, ItineraryState state) =>
        new(context.Received.Id, plan.Itinerary, plan.Name, state, context.Received.ConversationId);

    private ValueTask RecordAsync(MessageContext context, string name, string stop, TimeSpan? duration, Exception? failure = null) =>
        audit.RecordAsync(
            AuditFacts.Of(context.Received, AuditKind.Recorded, time) with
            {
                Name = name,
                Endpoint = context.Endpoint,
                Process = context.Process,
                Step = stop,
                Duration = duration,
                Code =
                    failure is EsbException known ? known.Code
                    : failure is null ? null
                    : "ESB-PROC-FAILED",
                Fields = new Dictionary<string, string> { ["itinerary"] = plan.Itinerary, ["definition"] = plan.Hash },
            },
            CancellationToken.None
        );

    [LoggerMessage(
        EventId = 3080,
        Level = LogLevel.Error,
        Message = "Stop {Stop} of itinerary {Itinerary} could not be undone for message {MessageId}"
    )]
    private partial void LogNotUndone(Guid messageId, string stop, string itinerary, Exception exception);
}
