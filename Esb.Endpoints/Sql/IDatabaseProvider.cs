using System.Data.Common;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;

namespace Esb.Endpoints.Sql;

/// <summary>A database client, named by <c>provider</c> of a connection. Thread-safe.</summary>
internal interface IDatabaseProvider
{
    /// <summary>The name in the configuration.</summary>
    string Name { get; }

    /// <summary>True if its databases can hold the bus's own tables; without them <c>once</c> and <c>transaction</c> are refused.</summary>
    bool HasBusTables { get; }

    /// <summary>Reports the configuration errors of a connection. Opens none.</summary>
    void Check(ConnectionConfig connection, ConfigErrors errors);

    /// <summary>Creates a pool of connections; opens none yet.</summary>
    /// <param name="connection">The configuration.</param>
    /// <param name="maxPoolSize">The maximum number of connections.</param>
    DbDataSource Open(ConnectionConfig connection, int maxPoolSize);

    /// <summary>Closes the connections of a pool, those in use when they are returned; the pool opens new ones.</summary>
    void Close(DbDataSource pool);

    /// <summary>Creates an empty batch of commands. They run in one round trip, in order, and take effect together or not at all. Only a
    /// token or cancelling the batch ends it early; cancelling waits until the server knows.</summary>
    DbBatch CreateBatch(DbConnection connection);

    /// <summary>Adds a claim: if the message was applied before, the batch has no effect.</summary>
    void AddClaim(DbBatch batch, MessageClaim claim);

    /// <summary>Adds a command with its values bound as data without a type, so that the database infers each type from its place in the
    /// command, unless a type is given. Each statement is a command of the batch.</summary>
    /// <param name="batch">The batch.</param>
    /// <param name="text">The command.</param>
    /// <param name="values">The values of its parameters; null for null.</param>
    /// <param name="types">The types of its parameters, null for those to be inferred; empty if none is given.</param>
    void AddCommand(DbBatch batch, SqlText text, string?[] values, IReadOnlyList<string?> types);

    /// <summary>True if the commands of a batch are one transaction by themselves.</summary>
    bool IsBatchAtomic { get; }

    /// <summary>True if a batch tells which of its commands was refused, as the setting <c>batch</c> needs.</summary>
    bool FindsRefused { get; }

    /// <summary>True if each command of a batch tells how many rows it changed.</summary>
    bool CountsEach { get; }

    /// <summary>Describes the fault of a type that a parameter names; null if the provider knows the type, or leaves the check to the
    /// database.</summary>
    string? FaultOfType(string type);

    /// <summary>Calls a stored procedure and hands over its result sets, then the values of its output parameters, if any, as one
    /// row.</summary>
    /// <param name="connection">An open connection with a transaction.</param>
    /// <param name="procedure">The procedure.</param>
    /// <param name="values">The values of its parameters, as text; null for null.</param>
    /// <param name="addResult">Reads a result set.</param>
    /// <param name="addOut">Reads the row of output values.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    Task CallAsync(
        DbConnection connection,
        SqlProcedure procedure,
        string?[] values,
        Func<DbDataReader, Task> addResult,
        Func<DbDataReader, Task> addOut,
        CancellationToken cancellationToken
    );

    /// <summary>Adds a fence: if a larger token was shown before, the batch has no effect.</summary>
    void AddFence(DbBatch batch, Fence fence);

    /// <summary>True if the database answered and refused its input; it would then accept the input without the faulty part.</summary>
    bool IsRefusal(Exception cause);

    /// <summary>Returns the index of the refused command of a batch; null if the exception concerns the whole batch, or the
    /// connection.</summary>
    int? IndexOfRefused(DbBatch batch, Exception cause);

    /// <summary>Returns the notice of a message that was applied before; null if the exception has another cause.</summary>
    DuplicateNotice? DuplicateOf(Exception cause);

    /// <summary>Maps an exception of the client to a failure; null for other exceptions.</summary>
    /// <param name="cause">The exception.</param>
    /// <param name="parameters">The names of the parameters, in order.</param>
    DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters);
}
