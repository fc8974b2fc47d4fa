using System.Data.Common;
using Esb.Core.Audit;

namespace Esb.Endpoints.Sql.Batches;

/// <summary>Runs messages together in one round trip and one transaction. Finds the messages that the database refuses and fails only
/// those. Thread-safe.</summary>
internal sealed class SqlBatch(SqlOutboundConfig config, SqlText text, IReadOnlyList<string?> types, Database database)
{
    // Each refused message costs another attempt of all the others; beyond this number, the rest runs one by one.
    private const int MaxFound = 3;

    /// <summary>Returns when the result of each message is known.</summary>
    public async Task RunAsync(IReadOnlyList<BatchedMessage> messages)
    {
        var left = messages.ToList();
        for (var found = 0; left.Count > 0 && found < MaxFound; found++)
        {
            if (await TryAsync(left) is not { } bad)
                return;
            left.Remove(bad);
        }

        foreach (var message in left)
            await TryAsync([message]);
    }

    // Returns the refused message; null if all results are known.
    private async Task<BatchedMessage?> TryAsync(IReadOnlyList<BatchedMessage> messages)
    {
        var refused = -1;
        MaskedFlow.Follow(messages.Select(message => message.Subject)); // this runs in the flow of one of them
        try
        {
            await database.UseAsync(
                config.Name,
                config.Timeout,
                async (connection, limited) =>
                {
                    await using var batch = Create(connection, messages);
                    try
                    {
                        return await batch.ExecuteNonQueryAsync(limited);
                    }
                    catch (DbException ex) when (database.Provider.IndexOfRefused(batch, ex) is { } command)
                    {
                        refused = command / CommandsEach;
                        throw;
                    }
                },
                CancellationToken.None
            );
        }
        catch (Exception ex) when (refused >= 0)
        {
            messages[refused].SetException(ex);
            return messages[refused];
        }
        catch (DbException ex) when (messages.Count > 1 && database.Provider.IsRefusal(ex))
        {
            foreach (var message in messages)
                await TryAsync([message]); // a deferred constraint: the commit names no message
            return null;
        }
        catch (Exception ex)
        {
            foreach (var message in messages)
                message.SetException(ex);
            return null;
        }

        foreach (var message in messages)
            message.SetResult();
        return null;
    }

    private int CommandsEach => text.Statements.Count + (config.Once ? 1 : 0);

    private DbBatch Create(DbConnection connection, IReadOnlyList<BatchedMessage> messages)
    {
        var batch = database.Provider.CreateBatch(connection);
        foreach (var message in messages)
        {
            if (message.Claim is { } claim)
                database.Provider.AddClaim(batch, claim);
            database.Provider.AddCommand(batch, text, message.Values, types);
        }

        return batch;
    }
}
