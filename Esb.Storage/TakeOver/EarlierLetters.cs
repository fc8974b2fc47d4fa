using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.Files;
using Esb.Storage.Sql;
using Esb.Storage.Sql.DeadLetters;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.TakeOver;

/// <summary>Dead letters and replay jobs.</summary>
internal sealed class EarlierLetters(string path, SqlDatabase database, int batch, ILogger logger) : EarlierPart(path, database, batch)
{
    // A number that another letter has already, of after an earlier take-over, is not taken from it.
    private const string KeepLetter = $"""
        insert into dead_letter (number, id, endpoint, {StoredEnvelope.Columns}, code, reason, exception_type, attempts, first_attempt,
          last_attempt, cause, failures, trace_parent, state, changed_at, changed_by, note, job, replays, replayed_as, replayed_to)
        select case when exists (select 1 from dead_letter where number = @number) then null else @number end, @id, @endpoint,
          {StoredEnvelope.Values},
          @code, @reason, @exceptionType, @attempts, @first, @last, @cause, @failures, @traceParent, @state, @changedAt, @changedBy, @note,
          @job, @replays, @replayedAs, @replayedTo
        where true on conflict (id) do nothing
        """;

    private const string KeepJob = $"insert into replay_job ({ReplayJobRow.Columns}) values ({ReplayJobRow.Values}) on conflict do nothing";

    private readonly EarlierRecords _records = new(path, logger);

    public override async Task TakeAsync(Action<long> told, CancellationToken cancellationToken)
    {
        var fold = new LetterFold();
        _records.Read(record =>
        {
            foreach (var item in StoredItems.Read(record.Payload))
                fold.Apply(LetterEvent.Read(item), record.Position);
        });
        await KeepAsync(fold.Jobs, KeepAsync, told, cancellationToken);
        var letters = fold.Letters.Select(letter => Read(letter.Summary, letter.Position)).OfType<KeptDeadLetter>();
        await KeepAsync(letters, KeepAsync, told, cancellationToken);
    }

    private KeptDeadLetter? Read(DeadLetterSummary summary, Segments.SegmentPosition position)
    {
        if (_records.ReadAt(position) is not { } payload)
            return null; // damaged, which was reported
        foreach (var item in StoredItems.Read(payload))
        {
            if (LetterEvent.Read(item).Letter is { } letter && DeadLetter.IdOf(letter.Id, letter.Endpoint) == summary.Id)
                return letter.As(summary).With(item.Bytes.GetValueOrDefault());
        }

        return null;
    }

    private Task KeepAsync(SqlSession session, ReplayJob job) =>
        session.ExecuteAsync(KeepJob, ReplayJobRow.Parameters(job, Database.Cipher));

    private Task KeepAsync(SqlSession session, KeptDeadLetter kept)
    {
        var (now, letter) = kept;
        return session.ExecuteAsync(
            KeepLetter,
            StoredEnvelope.Parameters(
                letter.Message,
                Database.Cipher,
                ("number", now.Number),
                ("id", now.Id),
                ("endpoint", letter.Endpoint),
                ("code", letter.Code),
                ("reason", letter.Reason),
                ("exceptionType", letter.ExceptionType),
                ("attempts", letter.Attempts),
                ("first", letter.FirstAttempt),
                ("last", letter.LastAttempt),
                ("cause", DeadLetterCause.Of(letter.Reason)),
                ("failures", new SqlJson(StoredJson.Of(letter.Failures))),
                ("traceParent", letter.TraceParent),
                ("state", now.State),
                ("changedAt", now.ChangedAt),
                ("changedBy", now.ChangedBy),
                ("note", now.Note),
                ("job", now.Job),
                ("replays", now.Replays),
                ("replayedAs", now.ReplayedAs),
                ("replayedTo", now.ReplayedTo)
            )
        );
    }
}
