using System.Globalization;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage.Sql;

namespace Esb.Storage.Encryption;

/// <summary>Encrypts the bodies that wait for an operator with the first key, in batches that lock no row for long.</summary>
/// <remarks>Bodies of other tables are deleted when their time is over; until then their earlier key must stay configured.</remarks>
internal sealed class BodyEncryption(SqlDatabase database) : IBodyEncryption
{
    private const int BatchRows = 100;

    private static readonly string[] Tables = ["dead_letter", "parked_message", "held_message", "letter_edit"];

    public async Task<EncryptedPart> EncryptAsync(string? after, CancellationToken cancellationToken)
    {
        var header =
            database.Cipher.CurrentHeader
            ?? throw new EsbException("ESB-STORE-NOKEYS", "'store.encryptionKeys' has no keys.", FaultKind.Invalid);
        var (table, number) = Place(after);
        var rows = await database.QueryAsync(
            $"""
            select number, message_id, body from {Tables[table]}
            where number > @after and encode(substr(body, 1, {header.Length.ToString(CultureInfo.InvariantCulture)}), 'hex') <> @header
            order by number limit {BatchRows.ToString(CultureInfo.InvariantCulture)}
            """,
            row => new Row(row.Long("number"), row.Id("message_id"), row.Bytes("body")),
            cancellationToken,
            ("after", number),
            ("header", Convert.ToHexStringLower(header))
        );
        var readable = rows.Select(Reseal).OfType<Resealed>().ToList();
        await database.TransactAsync(session => ReplaceAsync(session, Tables[table], readable), cancellationToken);

        string? next =
            rows.Count == BatchRows ? Next(table, rows[^1].Number)
            : table + 1 < Tables.Length ? Next(table + 1, 0)
            : null;
        return new EncryptedPart(readable.Count, rows.Count - readable.Count, next);
    }

    private Resealed? Reseal(Row row)
    {
        try
        {
            return new Resealed(row, database.Cipher.Seal(database.Cipher.Open(row.Body, row.MessageId), row.MessageId));
        }
        catch (EsbException)
        {
            return null; // counted; it says why when an operator opens it
        }
    }

    // Another host may have renumbered or removed the row meanwhile.
    private static async Task<int> ReplaceAsync(SqlSession session, string table, IEnumerable<Resealed> rows)
    {
        var replaced = 0;
        foreach (var (row, body) in rows)
        {
            replaced += await session.ExecuteAsync(
                $"update {table} set body = @body where number = @number and message_id = @message",
                ("body", body),
                ("number", row.Number),
                ("message", row.MessageId)
            );
        }

        return replaced;
    }

    private static (int Table, long Number) Place(string? after)
    {
        if (after is null)
            return (0, 0);
        if (
            after.Split('.') is [var table, var number]
            && int.TryParse(table, CultureInfo.InvariantCulture, out var index)
            && index >= 0
            && index < Tables.Length
            && long.TryParse(number, CultureInfo.InvariantCulture, out var last)
        )
        {
            return (index, last);
        }

        throw new EsbException("ESB-API-PARAMETER", "'after' is not the 'next' of an earlier answer.", FaultKind.Invalid);
    }

    private static string Next(int table, long number) => string.Create(CultureInfo.InvariantCulture, $"{table}.{number}");

    private sealed record Row(long Number, Guid MessageId, byte[] Body);

    private sealed record Resealed(Row Row, ReadOnlyMemory<byte> Body);
}
