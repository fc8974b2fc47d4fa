using System.Collections;
using System.Data;
using System.Data.Common;

namespace Esb.Endpoints.Sql.Clients;

/// <summary>A batch for clients that have none: its commands run one after the other. They take effect together in a transaction of the
/// connection only.</summary>
internal sealed class CommandBatch(DbConnection connection) : DbBatch
{
    private readonly CommandList _commands = new();

    public override int Timeout { get; set; }

    protected override DbBatchCommandCollection DbBatchCommands => _commands;

    protected override DbConnection? DbConnection
    {
        get => connection;
        set => throw new NotSupportedException();
    }

    // Commands belong to the transaction of their connection.
    protected override DbTransaction? DbTransaction { get; set; }

    public override int ExecuteNonQuery() => Commands().Sum(command => Math.Max(0, command.ExecuteNonQuery()));

    public override async Task<int> ExecuteNonQueryAsync(CancellationToken cancellationToken = default)
    {
        var changed = 0;
        foreach (var command in Commands())
            changed += Math.Max(0, await command.ExecuteNonQueryAsync(cancellationToken));
        return changed;
    }

    public override object? ExecuteScalar()
    {
        using var reader = ExecuteDbDataReader(CommandBehavior.Default);
        return reader.Read() ? reader.GetValue(0) : null;
    }

    public override async Task<object?> ExecuteScalarAsync(CancellationToken cancellationToken = default)
    {
        await using var reader = await ExecuteDbDataReaderAsync(CommandBehavior.Default, cancellationToken);
        return await reader.ReadAsync(cancellationToken) ? reader.GetValue(0) : null;
    }

    public override void Prepare()
    {
        foreach (var command in Commands())
            command.Prepare();
    }

    public override async Task PrepareAsync(CancellationToken cancellationToken = default)
    {
        foreach (var command in Commands())
            await command.PrepareAsync(cancellationToken);
    }

    public override void Cancel()
    {
        foreach (var command in _commands.All)
            command.Command.Cancel();
    }

    public override void Dispose()
    {
        foreach (var command in _commands.All)
            command.Command.Dispose();
    }

    public override async ValueTask DisposeAsync()
    {
        foreach (var command in _commands.All)
            await command.Command.DisposeAsync();
    }

    protected override DbBatchCommand CreateDbBatchCommand() => new OneCommand(connection.CreateCommand());

    protected override DbDataReader ExecuteDbDataReader(CommandBehavior behavior)
    {
        var commands = Commands().ToList();
        var chain = new ResultChain(commands[0].ExecuteReader(behavior), commands.Skip(1), behavior);
        if (chain.FieldCount == 0)
            chain.NextResult();
        return chain;
    }

    protected override async Task<DbDataReader> ExecuteDbDataReaderAsync(CommandBehavior behavior, CancellationToken cancellationToken)
    {
        var commands = Commands().ToList();
        var chain = new ResultChain(await commands[0].ExecuteReaderAsync(behavior, cancellationToken), commands.Skip(1), behavior);
        if (chain.FieldCount == 0)
            await chain.NextResultAsync(cancellationToken);
        return chain;
    }

    private IEnumerable<DbCommand> Commands()
    {
        foreach (var command in _commands.All)
        {
            command.Command.CommandTimeout = Timeout;
            yield return command.Command;
        }
    }

    private sealed class OneCommand(DbCommand command) : DbBatchCommand
    {
        public DbCommand Command => command;

        public override string CommandText
        {
            get => command.CommandText;
            set => command.CommandText = value;
        }

        public override CommandType CommandType
        {
            get => command.CommandType;
            set => command.CommandType = value;
        }

        public override int RecordsAffected => -1; // not counted for each command

        public override bool CanCreateParameter => true;

        protected override DbParameterCollection DbParameterCollection => command.Parameters;

        public override DbParameter CreateParameter() => command.CreateParameter();
    }

    private sealed class CommandList : DbBatchCommandCollection
    {
        public List<OneCommand> All { get; } = [];

        public override int Count => All.Count;

        public override bool IsReadOnly => false;

        public override void Add(DbBatchCommand item) => All.Add((OneCommand)item);

        public override void Clear() => All.Clear();

        public override bool Contains(DbBatchCommand item) => All.Contains((OneCommand)item);

        public override void CopyTo(DbBatchCommand[] array, int arrayIndex) => ((ICollection)All).CopyTo(array, arrayIndex);

        public override IEnumerator<DbBatchCommand> GetEnumerator() => All.GetEnumerator();

        public override int IndexOf(DbBatchCommand item) => All.IndexOf((OneCommand)item);

        public override void Insert(int index, DbBatchCommand item) => All.Insert(index, (OneCommand)item);

        public override bool Remove(DbBatchCommand item) => All.Remove((OneCommand)item);

        public override void RemoveAt(int index) => All.RemoveAt(index);

        protected override DbBatchCommand GetBatchCommand(int index) => All[index];

        protected override void SetBatchCommand(int index, DbBatchCommand batchCommand) => All[index] = (OneCommand)batchCommand;
    }
}
