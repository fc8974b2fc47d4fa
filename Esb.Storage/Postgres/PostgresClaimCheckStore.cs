using Esb.Core.Messages;
using Esb.Core.Storage;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres;

/// <summary>Bodies that travel as a reference, in PostgreSQL: a partition for each day, which is dropped as a whole.</summary>
internal sealed class PostgresClaimCheckStore(PostgresDatabase database, TimeProvider time) : IClaimCheckStore
{
    public bool IsAvailable => true;

    public async Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken)
    {
        var ticket = ClaimTicket.For(body, time);
        await database.RunAsync(
            async () =>
            {
                try
                {
                    await InsertAsync(ticket, body, cancellationToken);
                }
                catch (PostgresException ex) when (PostgresErrors.IsMissingPartition(ex))
                {
                    database.ClaimPartitions.Forget(); // the host slept over the days that it had made ahead
                    await database.ClaimPartitions.MakeAheadAsync(time.GetUtcNow(), cancellationToken);
                    await InsertAsync(ticket, body, cancellationToken);
                }
            },
            cancellationToken
        );
        return ticket;
    }

    public async Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken)
    {
        byte[]? body = null;
        await database.RunAsync(
            async () =>
            {
                await using var command = database.Source.CreateCommand("select body from claim_check where id = $1 and kept_at = $2");
                AddTicket(command.Parameters, ticket);
                body = (byte[]?)await command.ExecuteScalarAsync(cancellationToken);
            },
            cancellationToken
        );
        return ticket.Redeem(body);
    }

    private async Task InsertAsync(ClaimTicket ticket, ReadOnlyMemory<byte> body, CancellationToken cancellationToken)
    {
        await using var command = database.Source.CreateCommand("insert into claim_check (id, kept_at, body) values ($1, $2, $3)");
        AddTicket(command.Parameters, ticket);
        command.Parameters.Add(new NpgsqlParameter<ReadOnlyMemory<byte>> { TypedValue = body, NpgsqlDbType = NpgsqlDbType.Bytea });
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private static void AddTicket(NpgsqlParameterCollection parameters, ClaimTicket ticket)
    {
        parameters.Add(new NpgsqlParameter<Guid> { TypedValue = ticket.Id });
        parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = ticket.KeptAt.UtcDateTime });
    }
}
