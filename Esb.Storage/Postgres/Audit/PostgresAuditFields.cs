using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres.Audit;

/// <summary>The rows of <c>audit_field</c> that facts are found by, written beside them.</summary>
internal static class PostgresAuditFields
{
    private const string Insert = "insert into audit_field (name, value, event_id, occurred_at) select * from unnest($1, $2, $3, $4)";
    private const string Copy = "copy audit_field (name, value, event_id, occurred_at) from stdin (format binary)";

    /// <summary>Null where no row has fields.</summary>
    public static NpgsqlBatchCommand? ToInsert(IReadOnlyList<PostgresFactRow> events)
    {
        var rows = Rows(events);
        return rows.Count == 0
            ? null
            : new NpgsqlBatchCommand(Insert)
            {
                Parameters =
                {
                    PostgresArray.Of(rows, NpgsqlDbType.Text, row => row.Name),
                    PostgresArray.Of(rows, NpgsqlDbType.Text, row => row.Value),
                    PostgresArray.Of(rows, NpgsqlDbType.Uuid, row => row.Event),
                    PostgresArray.Of(rows, NpgsqlDbType.TimestampTz, row => row.Time),
                },
            };
    }

    public static async Task CopyAsync(
        NpgsqlConnection connection,
        IReadOnlyList<PostgresFactRow> events,
        CancellationToken cancellationToken
    )
    {
        var rows = Rows(events);
        if (rows.Count == 0)
            return;
        await using var import = await connection.BeginBinaryImportAsync(Copy, cancellationToken);
        foreach (var row in rows)
        {
            await import.StartRowAsync(cancellationToken);
            await import.WriteAsync(row.Name, NpgsqlDbType.Text, cancellationToken);
            await import.WriteAsync(row.Value, NpgsqlDbType.Text, cancellationToken);
            await import.WriteAsync(row.Event, NpgsqlDbType.Uuid, cancellationToken);
            await import.WriteAsync(row.Time, NpgsqlDbType.TimestampTz, cancellationToken);
        }

        await import.CompleteAsync(cancellationToken);
    }

    // Cut as they are for the index, two fields may be one.
    private static IReadOnlyList<(string Name, string Value, Guid Event, DateTime Time)> Rows(IReadOnlyList<PostgresFactRow> events) =>
        [
            .. events.SelectMany(row =>
                row.Fields.Select(PostgresFields.Indexed)
                    .Distinct()
                    .Select(field => (field.Name, field.Value, row.Fact.Id, row.Fact.Time.UtcDateTime))
            ),
        ];
}
