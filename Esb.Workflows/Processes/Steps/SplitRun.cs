using System.Globalization;
using System.Runtime.ExceptionServices;
using System.Text;
using System.Text.Json;
using Esb.Content.Json;
using Esb.Content.Splitting;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps.Deduplication;

namespace Esb.Workflows.Processes.Steps;

/// <summary>One run of a split over one message. Not thread-safe.</summary>
/// <param name="divide">Gives the items.</param>
/// <param name="items">Runs the steps with an item.</param>
/// <param name="settings">The step.</param>
/// <param name="maxGathered">The longest gathered results.</param>
/// <param name="joint">The commit of all items; null where each takes effect by itself.</param>
/// <param name="progress">Keeps the place across repetitions; null where each begins at the first item.</param>
/// <param name="record">Records how the interchange ended.</param>
internal sealed class SplitRun(
    Func<MessageContext, IEnumerable<SplitItem>> divide,
    SplitItems items,
    SplitConfig settings,
    long maxGathered,
    SplitCommit? joint,
    SplitProgress? progress,
    Func<AuditFact, ValueTask> record
)
{
    private readonly StringBuilder? _gathered = settings.Gather is null ? null : new StringBuilder("[");
    private int _count;
    private int _failed;

    public async ValueTask RunAsync(MessageContext context, string division, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            if (joint is null)
                await RunItemsAsync(context, division, cancellationToken);
            else
                await joint.RunAsync(
                    context,
                    () => RunItemsAsync(context, division, cancellationToken),
                    () => progress?.KeepAsync(_count, cancellationToken) ?? Task.CompletedTask,
                    cancellationToken
                );
        }
        catch (EsbException ex) when (!ex.IsTransient && context.UnitOfWork is null)
        {
            if (progress is not null)
                await progress.EndAsync(cancellationToken); // whoever sends it again begins anew
            await record(FactOf(context, time) with { Code = ex.Code, Reason = ex.Message });
            throw;
        }

        if (_gathered is not null)
            context.Message = context.Message with
            {
                Body = MessageBody.FromText(_gathered.Append(']').ToString()),
                ContentType = "application/json",
            };
        context.SetProperty("split.items", (double)_count);
        context.SetProperty("split.failed", (double)_failed);
        await record(FactOf(context, time));
        if (progress is not null)
            await progress.EndAsync(cancellationToken);
    }

    private async ValueTask RunItemsAsync(MessageContext context, string division, CancellationToken cancellationToken)
    {
        var (done, index) = (progress?.Items ?? 0, 0);
        (_count, _failed) = (done, progress?.Failed ?? 0);
        var most = context.UnitOfWork is null && context.Follower is null ? settings.MaxConcurrentItems : 1;
        var running = new Queue<RunningItem>();
        try
        {
            using var each = divide(context).GetEnumerator();
            while (true)
            {
                var item = Next(each, out var fault);
                if (item is null && fault is null)
                    break;
                while (running.Count > 0 && (fault is not null || running.Count == most))
                    await EndOldestAsync(running, context, cancellationToken);
                fault?.Throw();
                cancellationToken.ThrowIfCancellationRequested();
                if (index++ >= done)
                    running.Enqueue(Begin(item!.Value, index - 1));
                if (most == 1 && running.Count > 0)
                    await EndOldestAsync(running, context, cancellationToken);
            }

            while (running.Count > 0)
                await EndOldestAsync(running, context, cancellationToken);
        }
        finally
        {
            await EndedAsync(running); // what runs uses the message, which the caller may end
            foreach (var item in running)
                await CountAsync(item, context);
        }

        RunningItem Begin(SplitItem item, int number)
        {
            var part = SplitItems.Begin(context, item, division, number, isAlone: most == 1);
            return new RunningItem(part, items.RunAsync(part, item, number, joint, cancellationToken), () => Begin(item, number));
        }
    }

    // Where the rest cannot be divided, the items before it are done first.
    private static SplitItem? Next(IEnumerator<SplitItem> each, out ExceptionDispatchInfo? fault)
    {
        fault = null;
        try
        {
            return each.MoveNext() ? each.Current : null;
        }
        catch (EsbException ex)
        {
            fault = ExceptionDispatchInfo.Capture(ex);
            return null;
        }
    }

    // In the order of the items: all before the place that is kept are done, and what they published has been joined.
    private async ValueTask EndOldestAsync(Queue<RunningItem> running, MessageContext context, CancellationToken cancellationToken)
    {
        var item = running.Dequeue();
        await EndedAsync([item]);
        if (settings.MaxConcurrentItems > 1 && item.Run.Exception?.InnerException is EsbException { Code: Deduplicator.Running })
        {
            await EndedAsync(running); // one of them may have had the key
            context.Join(item.Part);
            item = item.Repeat();
        }

        bool passed;
        try
        {
            passed = await item.Run;
        }
        catch
        {
            context.FailedStep ??= item.Part.FailedStep;
            throw;
        }
        finally
        {
            context.Join(item.Part);
        }

        _count++;
        if (!passed)
            CountFailed();
        else if (_gathered is not null && item.Part.Outcome != ProcessOutcome.Filtered)
            await GatherAsync(item.Part.Message, cancellationToken);
        if (progress is not null && joint is null)
            await progress.NoteAsync(_count, _failed, context, cancellationToken);
    }

    private static async Task EndedAsync(IEnumerable<RunningItem> running) =>
        await Task.WhenAll(running.Select(item => (Task)item.Run))
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);

    // An item that ran beside the one that failed the message.
    private async ValueTask CountAsync(RunningItem item, MessageContext context)
    {
        context.Join(item.Part);
        if (!item.Run.IsCompletedSuccessfully)
            return;
        _count++;
        if (!await item.Run)
            _failed++;
    }

    private AuditFact FactOf(MessageContext context, TimeProvider time) =>
        AuditFacts.Of(context.Received, AuditKind.Recorded, time) with
        {
            Name = "interchange-ended",
            Endpoint = context.Endpoint,
            Process = context.Process,
            Step = items.Place,
            Fields = new Dictionary<string, string>
            {
                ["items"] = _count.ToString(CultureInfo.InvariantCulture),
                ["failed"] = _failed.ToString(CultureInfo.InvariantCulture),
            },
        };

    private void CountFailed()
    {
        if (++_failed > settings.MaxFailed)
            throw new EsbException(
                "ESB-SPLIT-FAILED",
                $"More than {settings.MaxFailed} items failed, the last of them item {_count}; they are dead letters, and the items "
                    + $"before it stand.",
                FaultKind.Invalid
            );
    }

    private async ValueTask GatherAsync(EsbMessage result, CancellationToken cancellationToken)
    {
        await result.Body.BufferAsync(maxGathered, cancellationToken);
        if (_gathered!.Length > 1)
            _gathered.Append(',');
        _gathered.Append(
            AnswerJson.IsJson(result.ContentType)
                ? result.Body.ReadText()
                : JsonSerializer.Serialize(result.Body.ReadText(), JsonStyle.Readable)
        );
        if (_gathered.Length > maxGathered)
            throw new EsbException(
                "ESB-SPLIT-OUTPUT",
                $"The results of the items are longer than {maxGathered} characters.",
                FaultKind.Invalid
            );
    }

    /// <summary>An item whose steps run.</summary>
    /// <param name="Part">Its context.</param>
    /// <param name="Run">Its steps; false if it became a dead letter.</param>
    /// <param name="Repeat">Runs it once more, under the same ids.</param>
    private sealed record RunningItem(MessageContext Part, Task<bool> Run, Func<RunningItem> Repeat);
}
