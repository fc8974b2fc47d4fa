using System.Data.Common;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Sql.Batches;
using Esb.Endpoints.Sql.Transactions;

namespace Esb.Endpoints.Sql;

/// <summary>Outbound endpoint that runs a database command for each message, with values of the message bound to it.</summary>
/// <remarks>Values of a message are data, never a part of the command. After a lost connection the effect is unknown: <c>once</c> detects
/// it at the redelivery; otherwise make the command idempotent, as with <c>on conflict do nothing</c>.</remarks>
internal sealed class SqlOutboundEndpoint(
    SqlOutboundConfig config,
    SqlCommandPlan plan,
    Database database,
    string bus,
    long maxBodyBytes,
    TimeProvider time,
    MessageBatcher? batcher = null
) : ITransactionalEndpoint, IFencedEndpoint
{
    // A redelivered message runs alone: it may have delayed its batch until the time-out.
    private const int FirstAttempt = 1;

    public ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken) =>
        SendAsync(message, transaction: null, fence: null, cancellationToken);

    public ValueTask<EsbMessage?> SendAsync(EsbMessage message, long fencingToken, CancellationToken cancellationToken) =>
        SendAsync(message, transaction: null, new Fence(bus, config.Name, fencingToken), cancellationToken);

    public ValueTask<EsbMessage?> SendAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken) =>
        SendAsync(message, unitOfWork.Connection == config.Database ? (SqlUnitOfWork)unitOfWork : null, fence: null, cancellationToken);

    private async ValueTask<EsbMessage?> SendAsync(
        EsbMessage message,
        SqlUnitOfWork? transaction,
        Fence? fence,
        CancellationToken cancellationToken
    )
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (plan.ReadsBody || config.Once)
            await message.Body.BufferAsync(maxBodyBytes, cancellationToken);
        var values = plan.Evaluate(new MessageContext(message, config.Name));
        var claim = config.Once ? MessageClaim.Of(bus, config.Name, message) : null;
        try
        {
            if (claim is not null || fence is not null)
                await database.Tables.EnsureReadyAsync(cancellationToken);
            if (batcher is not null && transaction is null && message.Attempt <= FirstAttempt)
            {
                await batcher.AddAsync(new BatchedMessage(values, claim), cancellationToken);
                return null;
            }

            var rows = transaction is null
                ? await database.UseAsync(
                    config.Name,
                    config.Timeout,
                    (connection, limited) => RunAloneAsync(connection, values, claim, fence, limited),
                    cancellationToken
                )
                : await transaction.UseAsync(
                    config.Name,
                    config.Timeout,
                    (connection, limited) => RunInAsync(connection, transaction, values, claim, limited),
                    cancellationToken
                );
            return rows is null
                ? null
                : message.Reply(MessageBody.FromBytes(rows.Value), time) with
                {
                    ContentType = config.As == RowsFormat.Json ? "application/json" : "application/xml",
                };
        }
        catch (Exception ex) when (database.Provider.DuplicateOf(ex) is { } notice)
        {
            return notice.AnswerTo(message, time);
        }
        catch (Exception ex) when (database.Explain(ex, plan.Names) is { } failure)
        {
            if (failure.Code == "ESB-SQL-INBOX")
                database.Tables.Forget();
            throw failure.ToException(config.Name, ex);
        }
    }

    private DbBatch CreateBatch(DbConnection connection, string?[] values, MessageClaim? claim, Fence? fence)
    {
        var batch = database.Provider.CreateBatch(connection);
        if (claim is not null)
            database.Provider.AddClaim(batch, claim);
        database.Provider.AddCommand(batch, plan.Text, values, plan.Types);
        if (fence is not null)
            database.Provider.AddFence(batch, fence);
        return batch;
    }

    // In a transaction of its own where the database would not make one of the batch, or where its level is configured.
    private async Task<ReadOnlyMemory<byte>?> RunAloneAsync(
        DbConnection connection,
        string?[] values,
        MessageClaim? claim,
        Fence? fence,
        CancellationToken cancellationToken
    )
    {
        var isOne = plan.Procedure is null && (database.Provider.IsBatchAtomic || plan.Text.Statements.Count == 1);
        if (isOne && config.Isolation is null)
            return await RunAsync(CreateBatch(connection, values, claim, fence), cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(config.Isolation.ToLevel(), cancellationToken);
        var answer = plan.Procedure is { } procedure
            ? await CallAsync(connection, procedure, values, fence, cancellationToken)
            : await RunAsync(CreateBatch(connection, values, claim, fence), cancellationToken);
        await transaction.CommitAsync(cancellationToken);
        return answer;
    }

    private async Task<ReadOnlyMemory<byte>?> RunInAsync(
        DbConnection connection,
        SqlUnitOfWork transaction,
        string?[] values,
        MessageClaim? claim,
        CancellationToken cancellationToken
    )
    {
        if (plan.Procedure is not { } procedure)
            return await RunAsync(transaction.Guard(CreateBatch(connection, values, claim, fence: null)), cancellationToken);
        await using (var guard = transaction.Guard(database.Provider.CreateBatch(connection)))
            await guard.ExecuteNonQueryAsync(cancellationToken);
        return await CallAsync(connection, procedure, values, fence: null, cancellationToken);
    }

    private async Task<ReadOnlyMemory<byte>?> CallAsync(
        DbConnection connection,
        SqlProcedure procedure,
        string?[] values,
        Fence? fence,
        CancellationToken cancellationToken
    )
    {
        var answer = new SqlAnswer(config.As);
        await database.Provider.CallAsync(
            connection,
            procedure,
            values,
            reader => AddAsync(answer, reader, cancellationToken),
            async reader => answer.SetOut(await ReadAsync(reader, cancellationToken)),
            cancellationToken
        );
        if (fence is null)
            return answer.Finish();
        await using var shown = database.Provider.CreateBatch(connection);
        database.Provider.AddFence(shown, fence);
        await shown.ExecuteNonQueryAsync(cancellationToken);
        return answer.Finish();
    }

    private async Task AddAsync(SqlAnswer answer, DbDataReader reader, CancellationToken cancellationToken)
    {
        answer.Add(await ReadAsync(reader, cancellationToken));
        if (answer.Length > maxBodyBytes)
            throw TooLarge($"more than {maxBodyBytes} bytes");
    }

    private async Task<ReadOnlyMemory<byte>?> RunAsync(DbBatch batch, CancellationToken cancellationToken)
    {
        await using var command = batch;
        if (config.Query is null)
        {
            await command.ExecuteNonQueryAsync(cancellationToken);
            return null;
        }

        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        try
        {
            var answer = new SqlAnswer(config.As);
            do
            {
                if (answer.Count == 0 || !IsFence(reader))
                    await AddAsync(answer, reader, cancellationToken);
            } while (await reader.NextResultAsync(cancellationToken)); // a later result may refuse all of it
            return answer.Count == 1 ? answer.Single : answer.Finish();
        }
        catch (EndpointException)
        {
            await AbandonAsync(command, reader);
            throw;
        }
    }

    // The last command of an endpoint with singleInstance, which is no part of the answer.
    private bool IsFence(DbDataReader reader) => config.SingleInstance && reader.FieldCount == 1 && reader.GetName(0) == "pass_fence";

    // Closing a reader reads all remaining rows, however long that takes; so the command is cancelled in the database.
    private async Task AbandonAsync(DbBatch command, DbDataReader reader)
    {
        try
        {
            command.Cancel();
            await reader.DisposeAsync();
        }
        catch (Exception ex) when (ex is OperationCanceledException || database.Provider.Explain(ex, []) is not null)
        {
            // the cancellation came too late, or the connection is lost; the caller gets the reason the answer was refused
        }
    }

    private async Task<ReadOnlyMemory<byte>> ReadAsync(DbDataReader reader, CancellationToken cancellationToken)
    {
        using IRowsWriter rows = config.As == RowsFormat.Json ? new JsonRows(Columns(reader)) : new XmlRows(Columns(reader));
        for (var count = 1; await reader.ReadAsync(cancellationToken); count++)
        {
            if (count > config.MaxRows)
                throw TooLarge($"more than {config.MaxRows} rows");
            Write(reader, rows);
            if (rows.Length > maxBodyBytes)
                throw TooLarge($"more than {maxBodyBytes} bytes");
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
            throw new EndpointException(
                config.Name,
                "ESB-SQL-RESULT",
                "The answer has a value that cannot be written; cast it in the query.",
                isTransient: false,
                ex
            );
        }
    }

    // Most readers would treat two members of one name as one.
    private List<string> Columns(DbDataReader reader)
    {
        var names = Enumerable.Range(0, reader.FieldCount).Select(reader.GetName).ToList();
        var twice = names.GroupBy(name => name).FirstOrDefault(group => group.Count() > 1)?.Key;
        return twice is null
            ? names
            : throw new EndpointException(
                config.Name,
                "ESB-SQL-RESULT",
                $"Two columns of the answer are named '{twice}'; name them apart in the query.",
                isTransient: false
            );
    }

    private EndpointException TooLarge(string limit) =>
        new(config.Name, "ESB-SQL-RESULT", $"The answer has {limit}.", isTransient: false, kind: FaultKind.TooLarge);
}
