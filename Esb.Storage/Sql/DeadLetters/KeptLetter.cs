using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>A letter of <c>dead_letter</c> with its edit in <c>letter_edit</c>, within a session.</summary>
internal sealed class KeptLetter(SqlSession session, IBodyCipher cipher, Guid id)
{
    private const string Edit =
        "select message_id, body, content_type, edited_at, edited_by, reason from letter_edit where letter_id = @id";

    private const string Replace = """
        insert into letter_edit (letter_id, message_id, body, content_type, edited_at, edited_by, reason)
        values (@id, @message, @body, @contentType, @at, @by, @reason)
        on conflict (letter_id) do update set message_id = excluded.message_id, body = excluded.body,
          content_type = excluded.content_type, edited_at = excluded.edited_at, edited_by = excluded.edited_by, reason = excluded.reason
        """;

    public async Task<KeptDeadLetter?> ReadAsync()
    {
        await using var found = await session.QueryManyAsync(
            $"select {LetterRow.Columns} from dead_letter where id = @id; {Edit}",
            [("id", id)]
        );
        var letter = await found.FirstAsync(row => LetterRow.Letter(row, cipher));
        return letter is null ? null : letter with { Edit = await found.FirstAsync(EditOf) };
    }

    /// <returns>The letter before the edit; null if it does not exist.</returns>
    public async Task<KeptDeadLetter?> EditAsync(LetterEdit? edit, string expected)
    {
        await session.FirstAsync<Guid?>(
            $"select id from dead_letter where id = @id{session.Dialect.ForUpdate}",
            row => row.Id("id"),
            ("id", id)
        );
        if (await ReadAsync() is not { } kept)
            return null;
        if (kept.Summary.State == DeadLetterState.Replaying)
            throw Refused("ESB-LETTER-HELD", $"Replay job {kept.Summary.Job} is sending the letter; edit it once that has ended.");
        if (LetterEdit.DigestOf(kept.CurrentBody) != expected)
            throw Refused("ESB-LETTER-CHANGED", Changed(kept.Edit));
        await StoreAsync(edit);
        return kept;
    }

    private Task StoreAsync(LetterEdit? edit) =>
        edit is null
            ? session.ExecuteAsync("delete from letter_edit where letter_id = @id", ("id", id))
            : session.ExecuteAsync(
                Replace,
                ("id", id),
                ("message", edit.MessageId),
                ("body", cipher.Seal(edit.Body, edit.MessageId)),
                ("contentType", edit.ContentType),
                ("at", edit.At),
                ("by", edit.By),
                ("reason", edit.Reason)
            );

    private LetterEdit EditOf(SqlRow row) =>
        new(
            row.Id("message_id"),
            cipher.Open(row.Bytes("body"), row.Id("message_id")),
            row.TextOrNull("content_type"),
            row.Time("edited_at"),
            row.Text("edited_by"),
            row.TextOrNull("reason")
        );

    private static string Changed(LetterEdit? edit) =>
        edit is null
            ? "Another operator has taken the edit back since you read the letter; read it again."
            : FormattableString.Invariant(
                $"{edit.By} has edited the letter since you read it, at {edit.At.UtcDateTime:yyyy-MM-dd HH:mm:ss} UTC; read it again."
            );

    private static EsbException Refused(string code, string message) => new(code, message, FaultKind.Invalid) { Status = 409 };
}
