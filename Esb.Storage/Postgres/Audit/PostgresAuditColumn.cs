using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres.Audit;

/// <summary>A column of <c>audit_event</c>, and how it is written: as an array of a statement, or row by row into a COPY.</summary>
internal abstract class PostgresAuditColumn(string name)
{
    public string Name => name;

    public abstract NpgsqlParameter Gather(IReadOnlyList<PostgresFactRow> rows);

    public abstract Task WriteAsync(NpgsqlBinaryImporter import, PostgresFactRow row, CancellationToken cancellationToken);
}

/// <inheritdoc/>
internal sealed class PostgresAuditColumn<T>(string name, NpgsqlDbType type, Func<PostgresFactRow, T> value) : PostgresAuditColumn(name)
{
    public override NpgsqlParameter Gather(IReadOnlyList<PostgresFactRow> rows) => PostgresArray.Of(rows, type, value);

    public override Task WriteAsync(NpgsqlBinaryImporter import, PostgresFactRow row, CancellationToken cancellationToken) =>
        value(row) is { } present ? import.WriteAsync<object>(present, type, cancellationToken) : import.WriteNullAsync(cancellationToken);
}
