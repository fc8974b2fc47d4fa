using Esb.Storage.Evidence;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres.Audit;

/// <summary>A column of <c>audit_event</c>, and how it is written: as an array of a statement, or row by row into a COPY.</summary>
internal abstract class PostgresAuditColumn(string name)
{
    public string Name => name;

    public abstract NpgsqlParameter Gather(IReadOnlyList<ChainedFact> facts);

    public abstract Task WriteAsync(NpgsqlBinaryImporter import, ChainedFact fact, CancellationToken cancellationToken);
}

/// <inheritdoc/>
internal sealed class PostgresAuditColumn<T>(string name, NpgsqlDbType type, Func<ChainedFact, T> value) : PostgresAuditColumn(name)
{
    public override NpgsqlParameter Gather(IReadOnlyList<ChainedFact> facts) => PostgresArray.Of(facts, type, value);

    public override Task WriteAsync(NpgsqlBinaryImporter import, ChainedFact fact, CancellationToken cancellationToken) =>
        value(fact) is { } present ? import.WriteAsync<object>(present, type, cancellationToken) : import.WriteNullAsync(cancellationToken);
}
