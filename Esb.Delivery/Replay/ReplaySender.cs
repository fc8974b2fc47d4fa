using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>Sends the letters of a job to the queues of their endpoints, retries until the transport confirms, and records each.</summary>
internal sealed partial class ReplaySender(ReplayJob job, ReplayServices services, ReplayWatch watch)
{
    private const int MaxAtOnce = 16;
    private const int LongestNames = 1_000;

    private static readonly TimeSpan FirstPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(30);

    private readonly ILogger _logger = services.Loggers.CreateLogger<ReplaySender>();
    private readonly ReplayPace _pace = new(job.Request.Rate, services.Time);

    /// <summary>Sends letters; those that share an order are sent one after the other.</summary>
    /// <param name="letters">The letters, oldest first.</param>
    /// <param name="sent">Receives the ids of confirmed letters, also if the call fails half way.</param>
    /// <param name="ended">Checked before each letter. After the send it cancels only the wait for a late settlement by the transport or
    /// for an unavailable audit.</param>
    public async Task SendAsync(IReadOnlyList<DeadLetterSummary> letters, List<Guid> sent, CancellationToken ended)
    {
        EsbException? failure = null;
        var options = new ParallelOptions { MaxDegreeOfParallelism = MaxAtOnce, CancellationToken = ended };
        await Parallel.ForEachAsync(
            letters.GroupBy(LineOf),
            options,
            async (line, _) =>
            {
                try
                {
                    await SendLineAsync(line, sent, ended);
                }
                catch (EsbException ex)
                {
                    Interlocked.CompareExchange(ref failure, ex, null); // the other lines continue: their letters must not be sent again
                }
            }
        );
        if (failure is not null)
            throw failure;
    }

    private async Task SendLineAsync(IEnumerable<DeadLetterSummary> line, List<Guid> sent, CancellationToken ended)
    {
        foreach (var letter in line)
        {
            await _pace.WaitAsync(ended);
            var replayed = await SendAsync(letter, ended);
            lock (sent)
                sent.Add(letter.Id); // independent of its record
            await RecordAsync(replayed, ended);
        }
    }

    // Letters whose order matters share a line.
    private string LineOf(DeadLetterSummary letter) =>
        services.Targets.ModeOf(letter.ReplayedTo ?? letter.Endpoint) switch
        {
            DeliveryMode.Ordered => "",
            DeliveryMode.OrderedByKey => letter.Key ?? "",
            _ => letter.Id.ToString(),
        };

    // Returns the fact that remains to be recorded.
    private async Task<AuditFact> SendAsync(DeadLetterSummary summary, CancellationToken ended)
    {
        var kept =
            await services.Letters.GetAsync(summary.Id, ended)
            ?? throw new EsbException(
                "ESB-REPLAY-UNREADABLE",
                $"The dead letter {summary.Id} cannot be read any more; cancel the job, and replay the others without it.",
                FaultKind.Internal
            );
        var endpoint = summary.ReplayedTo ?? summary.Endpoint;
        var message = MessageOf(kept);
        using var activity = ReplayTelemetry.Start(kept.Letter.TraceParent, message, endpoint, job.Id);
        AuditFact? begun = null; // of the confirmed attempt, which may be delivered before its confirm arrives
        await InsistAsync(
            () =>
            {
                begun = AuditFacts.Of(message, AuditKind.Replayed, services.Time);
                return TrySendAsync(endpoint, message, ended);
            },
            ended
        );
        ReplayTelemetry.CountReplayed(endpoint);
        return FactOf(begun!, message, endpoint, kept);
    }

    // A job that is paused or moved to another host does not send the letter again: the log holds the missing audit record.
    private async Task RecordAsync(AuditFact replayed, CancellationToken ended)
    {
        try
        {
            await InsistAsync(() => TryRecordAsync(replayed), ended);
        }
        catch (OperationCanceledException)
        {
            LogUnrecorded(replayed.MessageId, replayed.Endpoint, job.Id);
            throw;
        }
    }

    // Retries until no trouble is reported.
    private async Task InsistAsync(Func<Task<string?>> tryAsync, CancellationToken ended)
    {
        for (var pause = FirstPause; await tryAsync() is { } trouble; pause = Longer(pause))
        {
            watch.Trouble = trouble;
            await Task.Delay(pause, services.Time, ended);
        }

        watch.Trouble = null;
    }

    private async Task<string?> TrySendAsync(string endpoint, EsbMessage message, CancellationToken ended)
    {
        try
        {
            var result = await services.Queues.SendAsync(endpoint, message, DeliveryKind.Replay, ended);
            if (result.Outcome != PublishOutcome.Confirmed)
                return result.Reason ?? "the message was not confirmed";
            await result.Settled.WaitAsync(ended); // with a volatile queue, the letter is the only copy until then
            return null;
        }
        catch (EsbException ex)
        {
            return ex.Message; // for example a removed endpoint: an operator may cancel the job
        }
    }

    // A repeated send has the same id, including an edited message.
    private EsbMessage MessageOf(KeptDeadLetter kept)
    {
        var original = kept.Letter.Message;
        var message = MessageHops.Set(original with { Attempt = 0 }, hops: 0);
        if (kept.Edit is { } stored)
            message = message with
            {
                Id = stored.MessageId,
                Body = MessageBody.FromBytes(stored.Body),
                ContentType = stored.ContentType ?? original.ContentType,
                Headers = message.Headers.With(ReplayEdit.ReplayOf, original.Id.ToString()),
            };
        if (job.Request.Edit is not { } edit)
            return message;
        var headers = edit.Headers is null ? message.Headers : MessageHeaders.From(edit.Headers).Without(EsbHeaders.Hops);
        foreach (var (name, value) in original.Headers.Where(header => EsbHeaders.IsDirect(header.Key)))
            headers = headers.With(name, value); // an edited message continues at the same step
        return message with
        {
            Id = job.EditedId!.Value,
            Body = edit.Body is { } body ? MessageBody.FromBytes(body) : message.Body,
            ContentType = edit.ContentType ?? message.ContentType,
            Headers = headers.With(ReplayEdit.ReplayOf, original.Id.ToString()),
        };
    }

    private AuditFact FactOf(AuditFact begun, EsbMessage message, string endpoint, KeptDeadLetter kept)
    {
        var fields = new Dictionary<string, string> { ["job"] = job.Id.ToString(), ["operator"] = job.CreatedBy };
        if (message.Id != kept.Summary.MessageId)
            fields[ReplayEdit.ReplayOf] = kept.Summary.MessageId.ToString();
        if (job.Request.Edit is not null || kept.Edit is not null)
            DescribeEdit(fields, kept, message);
        if (endpoint != kept.Summary.Endpoint)
            fields["redirected-from"] = kept.Summary.Endpoint;
        return begun with
        {
            Endpoint = endpoint,
            Reason = job.Reason,
            Fields = fields,
            CausedBy = message.Id == kept.Summary.MessageId ? null : kept.Summary.MessageId,
        };
    }

    // The content is in the job or at the letter for as long as that is kept; the fact proves it for as long as the audit is.
    private void DescribeEdit(Dictionary<string, string> fields, KeptDeadLetter kept, EsbMessage edited)
    {
        var original = kept.Letter.Message;
        fields["edited-by"] = job.Request.Edit is null ? kept.Edit!.By : job.CreatedBy;
        fields["body-before"] = LetterEdit.DigestOf(original.Body.Bytes);
        fields["body-after"] = LetterEdit.DigestOf(edited.Body.Bytes);
        var names = original
            .Headers.Concat(edited.Headers)
            .Select(header => header.Key)
            .Distinct(StringComparer.OrdinalIgnoreCase)
            .Where(name => !HeaderRules.IsReserved(name) && original.Headers[name] != edited.Headers[name])
            .Concat(original.ContentType == edited.ContentType ? [] : ["content-type"])
            .Order(StringComparer.OrdinalIgnoreCase);
        fields["headers-changed"] = Clipped.To(LongestNames, string.Join(", ", names));
    }

    private async Task<string?> TryRecordAsync(AuditFact replayed)
    {
        try
        {
            await services.Audit.RecordAsync(replayed, CancellationToken.None);
            return null;
        }
        catch (EsbException ex)
        {
            return ex.Message;
        }
    }

    private static TimeSpan Longer(TimeSpan pause) => 2 * pause < LongestPause ? 2 * pause : LongestPause;

    [LoggerMessage(
        EventId = 2625,
        Level = LogLevel.Error,
        Message = "The replay of message {MessageId} to {Endpoint} by job {Job} could not be recorded"
    )]
    private partial void LogUnrecorded(Guid messageId, string? endpoint, Guid job);
}
