using System.CommandLine;
using Esb.Core.Replays;
using Esb.Host.Commands.Replays;
using Esb.Host.Management.DeadLetters;

namespace Esb.Host.Commands.DeadLetters;

/// <summary><c>esb dead-letters replay [ID…] [options] [--preview] [--wait]</c></summary>
internal sealed class ReplayLettersCommand : Command
{
    private readonly Option<int?> _limit = new("--limit")
    {
        Description = "The most letters, the oldest; needed where there are more than 10,000.",
    };
    private readonly Option<string?> _redirect = new("--redirect")
    {
        Description = "Sends them to this endpoint instead of the one that gave them up.",
    };
    private readonly Option<double?> _rate = new("--rate") { Description = "Messages per second at most." };
    private readonly Option<int?> _batch = new("--batch")
    {
        Description = "The most letters of a batch; the first is small, each next one twice as large while none fails again.",
    };
    private readonly Option<int?> _firstBatch = new("--first-batch") { Description = "The letters of the first batch, 10 by default." };
    private readonly Option<string?> _batchPause = new("--batch-pause")
    {
        Description = "How long to wait after each batch for letters that fail again, 5s by default.",
    };
    private readonly Option<double?> _stopAt = new("--stop-at")
    {
        Description = "Stops when this share of the letters failed again, such as 0.05.",
    };
    private readonly Option<bool> _outOfOrder = new("--out-of-order")
    {
        Description = "Sends letters although later messages have overtaken them at an endpoint that delivers in order.",
    };
    private readonly Option<string?> _edit = new("--edit")
    {
        Description = "Sends this file instead of the body, as a message with an id of its own; for one letter.",
    };
    private readonly Option<string?> _contentType = new("--content-type") { Description = "The media type of an edited message." };
    private readonly Option<string[]> _headers = new Option<string[]>("--header")
    {
        Description = "The headers of an edited message, instead of all it had; several.",
        HelpName = "name=value",
    }.AsPairs();
    private readonly Option<string?> _reason = new("--reason") { Description = "Why, for the record." };
    private readonly Option<string?> _command = new Option<string?>("--command")
    {
        Description = "A name of your own for this command: given again, it is done once.",
    }.AsLine();
    private readonly Option<bool> _preview = new("--preview") { Description = "Only counts what would be sent." };
    private readonly Option<bool> _wait = new("--wait") { Description = "Waits until the job has ended." };
    private readonly LetterSelection _letters;
    private readonly HostOptions _host;

    public ReplayLettersCommand(CommandContext context)
        : base("replay", "Sends dead letters to the queues of their endpoints again, as a job that outlives this command.")
    {
        _letters = new LetterSelection(this);
        foreach (
            var option in new Option[]
            {
                _limit,
                _redirect,
                _rate,
                _batch,
                _firstBatch,
                _batchPause,
                _stopAt,
                _outOfOrder,
                _edit,
                _contentType,
                _headers,
                _reason,
                _command,
                _preview,
                _wait,
            }
        )
            Add(option);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ReplayAsync(result, context, cancellationToken));
    }

    private async Task<int> ReplayAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var body = await BodyOf(result, cancellationToken);
        if (result.GetValue(_preview))
            return Show(await client.PostAsync<ReplayPreview>("api/replays/preview", body, cancellationToken), context);

        var job = await client.PostAsync<ReplayJobView>("api/replays", body, cancellationToken, result.GetValue(_command));
        context.Output.WriteLine($"job {job.Id}: {Counted.Of(job.Total, "dead letter")}");
        return result.GetValue(_wait) ? await ReplayProgress.WaitAsync(client, job.Id, context, cancellationToken) : ExitCode.Done;
    }

    private async Task<ReplayBody> BodyOf(ParseResult result, CancellationToken cancellationToken)
    {
        var (ids, filter) = _letters.Of(result);
        return new ReplayBody
        {
            Ids = ids,
            Filter = filter,
            Limit = result.GetValue(_limit),
            Redirect = result.GetValue(_redirect),
            Rate = result.GetValue(_rate),
            BatchSize = result.GetValue(_batch),
            FirstBatch = result.GetValue(_firstBatch),
            BatchPause = result.GetValue(_batchPause),
            StopAtFailureShare = result.GetValue(_stopAt),
            OutOfOrder = result.GetValue(_outOfOrder),
            Reason = result.GetValue(_reason),
            Edit = await EditOf(result, cancellationToken),
        };
    }

    private async Task<EditBody?> EditOf(ParseResult result, CancellationToken cancellationToken)
    {
        var file = result.GetValue(_edit);
        var headers = result.GetValue(_headers) is { Length: > 0 } pairs
            ? pairs.Select(pair => pair.Split('=', 2)).ToDictionary(pair => pair[0], pair => pair[1])
            : null;
        if (file is null && headers is null && result.GetValue(_contentType) is null)
            return null;
        return new EditBody
        {
            BodyBase64 = file is null ? null : await CommandFiles.ReadAsync(file, cancellationToken),
            ContentType = result.GetValue(_contentType),
            Headers = headers,
        };
    }

    private static int Show(ReplayPreview preview, CommandContext context)
    {
        LetterGroups.Write(preview.Groups, context);
        foreach (var obstacle in preview.Obstacles)
            context.Error.WriteLine(obstacle);
        return preview.Obstacles.Count == 0 ? ExitCode.Done : ExitCode.Usage;
    }
}
