using System.Data.Common;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sql.Inbound;

/// <summary>Runs one poll: finds rows, hands them over, marks them and commits, all or nothing (pattern: Transactional Client).</summary>
/// <remarks>With <c>publish</c> the messages go into the outbox of the database in the same commit, so each gets into its topic once. With
/// <c>process</c>, or without the right to make the outbox, the messages are handed over before the commit: at least once, under the same
/// ids.</remarks>
internal sealed partial class RowTaker(
    SqlInboundConfig config,
    SqlText query,
    SqlText after,
    Database database,
    ITransactions transactions,
    IMessageIntake intake,
    long maxBodyBytes,
    TimeProvider time,
    ILogger<RowTaker> logger
)
{
    private readonly RowReader _reader = new(config, after);
    private bool _hasNoOutbox;

    /// <summary>Runs a poll.</summary>
    /// <returns>The number of rows that were taken.</returns>
    /// <exception cref="EsbException">Nothing was taken, or the outcome is unknown; the next poll shows it.</exception>
    public async Task<int> TakeAsync(CancellationToken cancellationToken)
    {
        try
        {
            await using var transaction = await BeginAsync(cancellationToken);
            var messages = await transaction.UseAsync(FindAsync, cancellationToken);
            if (messages.Count == 0)
                return 0;
            foreach (var rows in messages)
                await HandOverAsync(rows, transaction.Outbox, cancellationToken);
            await transaction.UseAsync(
                (connection, limited) => MarkAsync(connection, [.. messages.SelectMany(rows => rows.Rows)], limited),
                cancellationToken
            );
            await transaction.CommitAsync(cancellationToken);
            return messages.Sum(rows => rows.Rows.Count);
        }
        catch (Exception ex) when (database.Provider.Explain(ex, after.Parameters) is { } failure)
        {
            if (failure.NeedsNewConnections)
                database.Renew();
            throw failure.ToException(config.Name, ex);
        }
    }

    private async Task<PollTransaction> BeginAsync(CancellationToken cancellationToken)
    {
        if (config.Publish is not null && database.Provider.HasBusTables)
        {
            try
            {
                var transaction = await PollTransaction.BeginWithOutboxAsync(
                    config.Name,
                    config.Connection,
                    transactions,
                    cancellationToken
                );
                _hasNoOutbox = false;
                return transaction;
            }
            catch (EsbException ex) when (ex.Code == "ESB-SQL-INBOX")
            {
                if (!_hasNoOutbox)
                    LogNoOutbox(ex, config.Name);
                _hasNoOutbox = true;
            }
        }

        return await PollTransaction.BeginAsync(config.Name, database, cancellationToken);
    }

    private async Task<List<TakenRows>> FindAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        await using var batch = database.Provider.CreateBatch(connection);
        database.Provider.AddCommand(batch, query, [], []);
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        return await _reader.ReadAsync(reader, cancellationToken);
    }

    private async Task HandOverAsync(TakenRows rows, IUnitOfWork? outbox, CancellationToken cancellationToken)
    {
        var id = MessageIds.FromForeign(string.Join('\n', rows.Rows.Select(row => row.Key).Prepend("row")), config.Name);
        var message = EsbMessage.Create(MessageBody.FromBytes(rows.Body), time) with
        {
            Id = id,
            ConversationId = id,
            ContentType = config.As == RowsFormat.Json ? "application/json" : "application/xml",
        };
        try
        {
            if (rows.Body.Length > maxBodyBytes)
            {
                const string code = "ESB-BODY-SIZE";
                var sentence = $"The rows are larger than {maxBodyBytes} bytes.";
                await intake.RefuseAsync(message, code, sentence, cancellationToken);
                LogRefused(null, code, id, config.Name);
                return;
            }

            var result = outbox is null
                ? await intake.ReceiveAsync(message, cancellationToken)
                : await intake.ReceiveAsync(message, outbox, cancellationToken);
            if (!result.IsDurable && outbox is null)
                await result.Settled.WaitAsync(cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            LogRefused(ex, ex.Code, id, config.Name); // marked like the others: otherwise it would hold them up for ever
        }
    }

    private async Task<int> MarkAsync(DbConnection connection, IReadOnlyList<TakenRow> rows, CancellationToken cancellationToken)
    {
        if (!database.Provider.CountsEach)
            return await MarkOneByOneAsync(connection, rows, cancellationToken);
        await using var batch = database.Provider.CreateBatch(connection);
        foreach (var row in rows)
            database.Provider.AddCommand(batch, after, row.AfterValues, []);
        await batch.ExecuteNonQueryAsync(cancellationToken);
        var statements = after.Statements.Count;
        for (var row = 0; row < rows.Count; row++)
        {
            if (batch.BatchCommands.Skip(row * statements).Take(statements).Sum(command => Math.Max(0, command.RecordsAffected)) == 0)
                throw NotMarked();
        }

        return rows.Count;
    }

    private async Task<int> MarkOneByOneAsync(DbConnection connection, IReadOnlyList<TakenRow> rows, CancellationToken cancellationToken)
    {
        foreach (var row in rows)
        {
            await using var batch = database.Provider.CreateBatch(connection);
            database.Provider.AddCommand(batch, after, row.AfterValues, []);
            if (await batch.ExecuteNonQueryAsync(cancellationToken) <= 0)
                throw NotMarked();
        }

        return rows.Count;
    }

    private EndpointException NotMarked() =>
        new(config.Name, "ESB-SQL-AFTER", "The command \"after\" changed nothing for a row; nothing was taken.", isTransient: false);

    [LoggerMessage(
        EventId = 2330,
        Level = LogLevel.Warning,
        Message = "ESB-SQL-INBOX: {Endpoint} has no outbox in its database; messages are published before the commit, at least once"
    )]
    private partial void LogNoOutbox(Exception cause, string endpoint);

    [LoggerMessage(
        EventId = 2331,
        Level = LogLevel.Warning,
        Message = "{Code}: message {MessageId} of {Endpoint} was refused; its rows are marked as taken"
    )]
    private partial void LogRefused(Exception? cause, string code, Guid messageId, string endpoint);
}
