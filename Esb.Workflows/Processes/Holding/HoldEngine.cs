using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Workflows.Processes.Steps.Holding;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Holding;

/// <summary>Works on the timers of held messages: groups that are complete or late, gaps in sequences, delays that are over.
/// Thread-safe.</summary>
internal sealed partial class HoldEngine(
    Holder holder,
    Live<HoldCatalog> catalog,
    ITimerStore timers,
    IDeadLetterChannel letters,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<HoldEngine> logger
)
{
    // A step that is gone from the configuration may come back: its messages wait for it.
    private static readonly TimeSpan Postponed = TimeSpan.FromSeconds(30);

    private IHeldMessages Store => holder.Store;

    /// <summary>Fires a timer that this host has claimed.</summary>
    public Task FireAsync(StoredTimer timer, CancellationToken cancellationToken) =>
        timer.Kind switch
        {
            HeldTimers.Group => CloseAsync(timer, cancellationToken),
            HeldTimers.Release => ReleaseAsync(timer, cancellationToken),
            HeldTimers.Gap => PassGapAsync(timer, cancellationToken),
            _ => ContinueAsync(timer, cancellationToken),
        };

    private async Task CloseAsync(StoredTimer timer, CancellationToken cancellationToken)
    {
        if (await Store.CloseGroupAsync(timer, GroupReasons.Time, cancellationToken) is { } release)
            await ReleaseAsync(release, cancellationToken);
    }

    private async Task ReleaseAsync(StoredTimer timer, CancellationToken cancellationToken)
    {
        var parts = timer.Data!.Split(' ', 2);
        var (group, reason) = (Guid.Parse(parts[0]), parts[1]);
        var messages = await Store.ReadGroupAsync(group, cancellationToken);
        if (messages.Count == 0)
        {
            await timers.RemoveAsync([timer.Id], cancellationToken);
            return;
        }

        var first = messages[0];
        var current = catalog.Current;
        if (current.Find<AggregateFlow>(first.Step) is not { } flow)
        {
            await PostponeAsync(timer, first.Step, messages.Count, cancellationToken);
            return;
        }

        var whole = WholeOf(group, reason, messages);
        if (reason == GroupReasons.Time && flow.Settings.OnTimeout == GroupTimeout.DeadLetter)
        {
            await BuryAsync(timer, group, whole, messages, "ESB-HOLD-TIMEOUT", TextOf(messages.Count), cancellationToken);
            return;
        }

        EsbMessage made;
        try
        {
            made = await flow.Body.MakeAsync(whole, [.. messages.Select(held => held.Message)], current.Services, cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            await BuryAsync(timer, group, whole, messages, ex.Code, ex.Message, cancellationToken);
            return;
        }

        var (process, place) = HeldMessage.Read(first.Step);
        var outgoing = new OutboxMessage(first.Line, new OutgoingMessage(made, first.Endpoint, process, first.Parent) { Step = place })
        {
            Queue = HeldQueues.OfProcess(process),
        };
        if (await Store.EndGroupAsync(timer.Id, group, outgoing, cancellationToken) is not { } follows)
            return; // another host was first
        holder.Send(outgoing, follows);
        await RecordAsync(made, first, "aggregate-released", messages.Count, reason);
    }

    // The message of the group, with the envelope and the properties of the first one.
    private EsbMessage WholeOf(Guid group, string reason, IReadOnlyList<HeldMessage> messages)
    {
        var (first, bytes) = (messages[0].Message, messages.Sum(held => (long)held.Message.Body.Bytes.Length));
        var state = HeldState.Read(first)!;
        var properties = new Dictionary<string, object>(state.Properties)
        {
            ["aggregate.count"] = (double)messages.Count,
            ["aggregate.size"] = (double)bytes,
            ["aggregate.reason"] = reason,
            ["aggregate.full"] = reason == GroupReasons.Full,
        };
        return (state with { Properties = properties }).On(
            first with
            {
                Id = MessageIds.Derive(group, "whole"),
                CreatedAt = time.GetUtcNow(),
            }
        );
    }

    private static string TextOf(int count) => $"The group was not complete in time; it has {count} messages.";

    // The letter continues behind the step when it is replayed.
    private async Task BuryAsync(
        StoredTimer timer,
        Guid group,
        EsbMessage whole,
        IReadOnlyList<HeldMessage> messages,
        string code,
        string reason,
        CancellationToken cancellationToken
    )
    {
        var array = GroupBody.AsArray(whole, [.. messages.Select(held => held.Message)]);
        await letters.KeepAsync(LetterOf(array, messages[0], code, reason), cancellationToken);
        await Store.EndGroupAsync(timer.Id, group, outgoing: null, cancellationToken);
    }

    private async Task PassGapAsync(StoredTimer timer, CancellationToken cancellationToken)
    {
        var waiting = await Store.ReadSequenceAsync(timer.Target, cancellationToken);
        if (waiting.Count == 0)
        {
            await timers.RemoveAsync([timer.Id], cancellationToken);
            return;
        }

        var first = waiting[0];
        if (catalog.Current.Find<ResequenceFlow>(first.Step) is not { } flow)
        {
            await PostponeAsync(timer, first.Step, waiting.Count, cancellationToken);
            return;
        }

        var (process, _) = HeldMessage.Read(first.Step);
        if (flow.Settings.OnGap == GapAction.DeadLetter)
        {
            foreach (var held in waiting)
                await letters.KeepAsync(
                    LetterOf(held.Message, held, "ESB-HOLD-GAP", $"Message {timer.Data} of its sequence did not come in time."),
                    cancellationToken
                );
            await Store.PassGapAsync(timer, flow.Within, queue: null, cancellationToken);
            return;
        }

        var change = await Store.PassGapAsync(timer, flow.Within, HeldQueues.OfProcess(process), cancellationToken);
        if (change.Released.Count == 0)
            return;
        holder.Send(change);
        LogGap(process, first.Step.Replace('\n', ' '), timer.Data!, change.Released.Count);
    }

    private async Task ContinueAsync(StoredTimer timer, CancellationToken cancellationToken)
    {
        var (process, _) = HeldMessage.Read(timer.Data!);
        holder.Send(await Store.ReleaseDueAsync(timer, HeldQueues.OfProcess(process), cancellationToken));
    }

    private async Task PostponeAsync(StoredTimer timer, string step, int count, CancellationToken cancellationToken)
    {
        var (process, place) = HeldMessage.Read(step);
        LogGone(count, process, place);
        await timers.PostponeAsync(timer.Id, Postponed, cancellationToken);
    }

    private DeadLetter LetterOf(EsbMessage message, HeldMessage held, string code, string reason)
    {
        var (process, place) = HeldMessage.Read(held.Step);
        var now = time.GetUtcNow();
        return new DeadLetter(
            message,
            HeldQueues.OfProcess(process),
            code,
            FailedAttempts.Cut($"Step {place}: {reason}", DeadLetter.MaxReasonLength),
            ExceptionType: null,
            Attempts: 1,
            now,
            now
        );
    }

    private ValueTask RecordAsync(EsbMessage message, HeldMessage first, string name, int count, string reason)
    {
        var (process, place) = HeldMessage.Read(first.Step);
        var fields = new Dictionary<string, string>
        {
            ["messages"] = count.ToString(System.Globalization.CultureInfo.InvariantCulture),
            ["reason"] = reason,
        };
        return audit.RecordAsync(
            AuditFacts.Of(message, AuditKind.Recorded, time) with
            {
                Name = name,
                Endpoint = HeldQueues.OfProcess(process),
                Process = process,
                Step = place,
                CausedBy = first.Message.Id,
                Fields = fields,
            },
            CancellationToken.None
        );
    }

    [LoggerMessage(
        EventId = 3070,
        Level = LogLevel.Warning,
        Message = "{Count} messages wait at the step {Step} of process {Process}, which the configuration has no more; "
            + "they wait for it to come back"
    )]
    private partial void LogGone(int count, string process, string step);

    [LoggerMessage(
        EventId = 3071,
        Level = LogLevel.Warning,
        Message = "Message {Number} of a sequence at {Step} of process {Process} did not come in time; {Count} messages continue without it"
    )]
    private partial void LogGap(string process, string step, string number, int count);
}
