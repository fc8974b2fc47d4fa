using Esb.Core.Storage;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>Stores a dead letter or reopens it, and counts a failed replay, within a transaction.</summary>
internal sealed class LetterArrival(SqlSession session, IBodyCipher cipher, DeadLetter letter)
{
    // More than the attempts of any message, with any reasonable number of replays.
    private const int MaxFailures = 100;

    private const string Insert = $"""
        insert into dead_letter (id, endpoint, {StoredEnvelope.Columns}, code, reason, exception_type, attempts, first_attempt,
          last_attempt, cause, failures, trace_parent)
        values (@id, @endpoint, {StoredEnvelope.Values}, @code, @reason, @exceptionType, @attempts, @first, @last, @cause, @failures,
          @traceParent)
        on conflict do nothing
        """;

    /// <returns>True if anything changed.</returns>
    public async Task<bool> KeepAsync()
    {
        if (await FindKnownAsync() is { } known)
            return await OpenAgainAsync(known);
        if (await InsertAsync())
            return await CountEditedAsync();
        return await FindKnownAsync() is { } other && await OpenAgainAsync(other); // another host was faster
    }

    // A failure with the time of the last failure is a duplicate. For a replayed letter any other time is a new failure: clocks of hosts
    // differ.
    private Task<Known?> FindKnownAsync() =>
        session.FirstAsync(
            $"""
            select state, job, failures, last_attempt < @last as is_newer, last_attempt <> @last as is_other from dead_letter where id =
              @id{session.Dialect.ForUpdate}
            """,
            row => new Known(
                row.State<DeadLetterState>("state"),
                row.IdOrNull("job"),
                row.Failures("failures"),
                row.Flag("is_newer"),
                row.Flag("is_other")
            ),
            ("id", letter.Id),
            ("last", letter.LastAttempt)
        );

    private async Task<bool> InsertAsync() =>
        await session.ExecuteAsync(
            Insert,
            StoredEnvelope.Parameters(
                letter.Message,
                cipher,
                ("id", letter.Id),
                ("endpoint", letter.Endpoint),
                ("code", letter.Code),
                ("reason", letter.Reason),
                ("exceptionType", letter.ExceptionType),
                ("attempts", letter.Attempts),
                ("first", letter.FirstAttempt),
                ("last", letter.LastAttempt),
                ("cause", DeadLetterCause.Of(letter.Reason)),
                ("failures", new SqlJson(StoredJson.Of(letter.Failures))),
                ("traceParent", letter.TraceParent)
            )
        ) == 1;

    // If the message was edited and redirected, the failure counts for the job that sent it.
    private async Task<bool> CountEditedAsync()
    {
        var job = await session.FirstAsync(
            "select job from dead_letter where replayed_as = @message and replayed_to = @endpoint and id <> @id order by number "
                + "desc limit 1",
            row => row.IdOrNull("job"),
            ("message", letter.Message.Id),
            ("endpoint", letter.Endpoint),
            ("id", letter.Id)
        );
        await CountAsync(job, isSent: false);
        return true;
    }

    private async Task<bool> OpenAgainAsync(Known known)
    {
        var isReplayed = known.State is DeadLetterState.Replaying or DeadLetterState.Replayed;
        if (isReplayed ? !known.IsOther : !known.IsNewer)
            return false;
        await session.ExecuteAsync(
            $"""
            update dead_letter set number = {session.Dialect.NextNumber(
                "dead_letter"
            )}, code = @code, reason = @reason, exception_type = @exceptionType,
              attempts = attempts + @attempts, last_attempt = @last, cause = @cause, failures = @failures,
              replays = replays + case when state = 'Replaying' then 1 else 0 end, state = 'Open', changed_at = now(), changed_by = null,
                note = null
            where id = @id
            """,
            ("id", letter.Id),
            ("code", letter.Code),
            ("reason", letter.Reason),
            ("exceptionType", letter.ExceptionType),
            ("attempts", letter.Attempts),
            ("last", letter.LastAttempt),
            ("cause", DeadLetterCause.Of(letter.Reason)),
            ("failures", new SqlJson(StoredJson.Of(known.Failures.Concat(letter.Failures).TakeLast(MaxFailures))))
        );
        if (isReplayed)
            await CountAsync(known.Job, isSent: known.State == DeadLetterState.Replaying);
        return true;
    }

    // A letter that returns before it was marked as replayed has been sent: it is counted here, because it will not be marked any more.
    private Task CountAsync(Guid? job, bool isSent) =>
        job is null
            ? Task.CompletedTask
            : session.ExecuteAsync(
                "update replay_job set failed = failed + 1, replayed = replayed + @sent where id = @job",
                ("job", job),
                ("sent", isSent ? 1L : 0L)
            );

    private sealed record Known(DeadLetterState State, Guid? Job, IReadOnlyList<FailedAttempt> Failures, bool IsNewer, bool IsOther);
}
