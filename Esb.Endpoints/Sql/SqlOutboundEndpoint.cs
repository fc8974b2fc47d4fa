using System.Data.Common;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Endpoints.Sql;

/// <summary>Outbound endpoint that runs a command in a database for each message, with values of the message bound to it.</summary>
/// <remarks>What comes from a message is data, never a part of the command. A lost connection leaves open whether the command took effect: let a repetition do no harm, as with <c>on conflict do nothing</c>.</remarks>
internal sealed class SqlOutboundEndpoint(SqlOutboundConfig config, SqlCommandPlan plan, Database database, long maxBodyBytes, TimeProvider time) : IOutboundEndpoint
{
    // A little less than the attempt has: enough to still say what took so long, and to cancel it on the server.
    private readonly TimeSpan _limit = config.Timeout - TimeSpan.FromTicks(Math.Min(config.Timeout.Ticks / 10, TimeSpan.TicksPerSecond));

    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (plan.ReadsBody) await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var values = plan.Evaluate(new MessageContext(message, config.Name));
        try
        {
            var rows = await database.UseAsync(config.Name, _limit, (connection, limited) => RunAsync(connection, values, limited), cancellationToken);
            return rows is null ? null : message.Reply(MessageBody.FromBytes(rows.Value), time) with { ContentType = config.As == RowsFormat.Json ? "application/json" : "application/xml" };
        }
        catch (Exception ex) when (database.Provider.Explain(ex, plan.Text.Parameters) is { } failure)
        {
            throw new EndpointException(config.Name, failure.Code, failure.Sentence, failure.IsTransient, ex, failure.Kind) { IsOutage = failure.IsOutage };
        }
    }

    private async Task<ReadOnlyMemory<byte>?> RunAsync(DbConnection connection, string?[] values, CancellationToken cancellationToken)
    {
        await using var command = database.Provider.CreateCommand(connection, plan.Text, values);
        if (config.Query is null)
        {
            await command.ExecuteNonQueryAsync(cancellationToken);
            return null;
        }

        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        return await ReadAsync(reader, cancellationToken);
    }

    private async Task<ReadOnlyMemory<byte>> ReadAsync(DbDataReader reader, CancellationToken cancellationToken)
    {
        using IRowsWriter rows = config.As == RowsFormat.Json ? new JsonRows(Columns(reader)) : new XmlRows(Columns(reader));
        for (var count = 1; await reader.ReadAsync(cancellationToken); count++)
        {
            if (count > config.MaxRows) throw TooLarge($"more than {config.MaxRows} rows");
            Write(reader, rows);
            if (rows.Length > maxBodyBytes) throw TooLarge($"more than {maxBodyBytes} bytes");
        }

        return rows.Finish();
    }

    private void Write(DbDataReader reader, IRowsWriter rows)
    {
        try
        {
            rows.Write(reader);
        }
        catch (Exception ex) when (ex is InvalidCastException or OverflowException or ArgumentException)
        {
            throw new EndpointException(config.Name, "ESB-SQL-RESULT", "The answer has a value that cannot be written; cast it in the query.", isTransient: false, ex);
        }
    }

    // Two members of one name would be one of them to most readers.
    private List<string> Columns(DbDataReader reader)
    {
        var names = Enumerable.Range(0, reader.FieldCount).Select(reader.GetName).ToList();
        var twice = names.GroupBy(name => name).FirstOrDefault(group => group.Count() > 1)?.Key;
        return twice is null ? names : throw new EndpointException(config.Name, "ESB-SQL-RESULT", $"Two columns of the answer are named '{twice}'; name them apart in the query.", isTransient: false);
    }

    private EndpointException TooLarge(string limit) => new(config.Name, "ESB-SQL-RESULT", $"The answer has {limit}.", isTransient: false, kind: FaultKind.TooLarge);
}
