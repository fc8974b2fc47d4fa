using System.Text;
using System.Text.Json;
using Esb.Content.Splitting;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>One run of a split over one message. Not thread-safe.</summary>
internal sealed class SplitRun(IMessageSplitter splitter, SplitItems items, SplitConfig settings, long maxGathered)
{
    private readonly StringBuilder? _gathered = settings.Gather is null ? null : new StringBuilder("[");
    private int _count;
    private int _failed;

    public async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        var division = context.NextDivision(items.Place);
        foreach (var item in splitter.Split(context.Message.Body))
        {
            cancellationToken.ThrowIfCancellationRequested();
            var done = await items.RunAsync(context, item, division, _count++, cancellationToken);
            if (done is null) CountFailed();
            else if (_gathered is not null && done.Outcome != ProcessOutcome.Filtered) await GatherAsync(done.Message, cancellationToken);
        }

        if (_gathered is not null)
            context.Message = context.Message with { Body = MessageBody.FromText(_gathered.Append(']').ToString()), ContentType = "application/json" };
        context.SetProperty("split.items", (double)_count);
        context.SetProperty("split.failed", (double)_failed);
    }

    private void CountFailed()
    {
        if (++_failed > settings.MaxFailed)
            throw new EsbException("ESB-SPLIT-FAILED", $"More than {settings.MaxFailed} items failed, the last of them item {_count}; they are dead letters, and the items before it stand.", FaultKind.Invalid);
    }

    private async ValueTask GatherAsync(EsbMessage result, CancellationToken cancellationToken)
    {
        await result.Body.BufferAsync(maxGathered, cancellationToken);
        if (_gathered!.Length > 1) _gathered.Append(',');
        _gathered.Append(IsJson(result) ? result.Body.ReadText() : JsonSerializer.Serialize(result.Body.ReadText(), JsonStyle.Readable));
        if (_gathered.Length > maxGathered)
            throw new EsbException("ESB-SPLIT-OUTPUT", $"The results of the items are longer than {maxGathered} characters.", FaultKind.Invalid);
    }

    private static bool IsJson(EsbMessage message)
    {
        var type = message.ContentType?.Split(';')[0].Trim() ?? "";
        return type.EndsWith("/json", StringComparison.OrdinalIgnoreCase) || type.EndsWith("+json", StringComparison.OrdinalIgnoreCase);
    }
}
