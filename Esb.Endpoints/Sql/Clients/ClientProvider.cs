using System.Data;
using System.Data.Common;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Delivery.Databases;

namespace Esb.Endpoints.Sql.Clients;

/// <summary>Works through a client that knows nothing of the bus: commands in a transaction, and no tables of the bus.</summary>
internal sealed class ClientProvider(IDatabaseClient client) : IDatabaseProvider
{
    public string Name => client.Name;

    public bool HasBusTables => false;

    public bool IsBatchAtomic => false;

    public bool FindsRefused => false;

    public bool CountsEach => false;

    public void Check(ConnectionConfig connection, ConfigErrors errors) => client.Check(connection, errors);

    public DbDataSource Open(ConnectionConfig connection, int maxPoolSize) => client.Open(connection, maxPoolSize);

    public void Close(DbDataSource pool) => client.Close(pool);

    public DbBatch CreateBatch(DbConnection connection)
    {
        var batch = connection.CanCreateBatch ? connection.CreateBatch() : new CommandBatch(connection);
        batch.Timeout = 0; // the endpoint's timeout cancels
        return batch;
    }

    public void AddClaim(DbBatch batch, MessageClaim claim) => throw new InvalidOperationException("once is refused for this provider.");

    public void AddCommand(DbBatch batch, SqlText text, string?[] values, IReadOnlyList<string?> types)
    {
        foreach (var statement in text.Statements)
        {
            var command = batch.CreateBatchCommand();
            command.CommandText = statement.Render(client.Placeholder);
            for (var position = 1; position <= statement.Values.Count; position++)
                command.Parameters.Add(
                    Bind(command.CreateParameter(), client.ParameterName(position), values[statement.Values[position - 1]])
                );
            batch.BatchCommands.Add(command);
        }
    }

    public string? FaultOfType(string type) =>
        $"the provider '{client.Name}' binds values as text and takes no types: expected a cast in the command";

    public async Task CallAsync(
        DbConnection connection,
        SqlProcedure procedure,
        string?[] values,
        Func<DbDataReader, Task> addResult,
        Func<DbDataReader, Task> addOut,
        CancellationToken cancellationToken
    )
    {
        await using var command = connection.CreateCommand();
        command.CommandType = CommandType.StoredProcedure;
        command.CommandText = procedure.Name;
        command.CommandTimeout = 0;
        for (var index = 0; index < values.Length; index++)
        {
            var parameter = Bind(command.CreateParameter(), procedure.Parameters[index].Name, values[index]);
            parameter.Direction = procedure.Parameters[index].Direction switch
            {
                SqlDirection.Out => ParameterDirection.Output,
                SqlDirection.InOut => ParameterDirection.InputOutput,
                _ => ParameterDirection.Input,
            };
            command.Parameters.Add(parameter);
        }

        await using (var reader = await command.ExecuteReaderAsync(cancellationToken))
        {
            do
            {
                if (reader.FieldCount > 0)
                    await addResult(reader);
            } while (await reader.NextResultAsync(cancellationToken));
        }

        var output = new OutValues();
        foreach (DbParameter parameter in command.Parameters)
        {
            if (parameter.Direction != ParameterDirection.Input)
                output.Add(parameter.ParameterName, typeof(string), parameter.Value ?? DBNull.Value);
        }

        await output.ReadByAsync(addOut);
    }

    public void AddFence(DbBatch batch, Fence fence) => throw new InvalidOperationException("singleInstance is refused for this provider.");

    public bool IsRefusal(Exception cause) => false;

    public int? IndexOfRefused(DbBatch batch, Exception cause) => null;

    public DuplicateNotice? DuplicateOf(Exception cause) => null;

    public DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters) => client.Explain(cause, parameters);

    private static DbParameter Bind(DbParameter parameter, string name, string? value)
    {
        parameter.ParameterName = name;
        parameter.DbType = DbType.String;
        parameter.Value = (object?)value ?? DBNull.Value;
        return parameter;
    }
}
