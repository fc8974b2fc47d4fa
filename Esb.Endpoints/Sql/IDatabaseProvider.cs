using System.Data.Common;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
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
    /// command. Each statement is a command of the batch.</summary>
    void AddCommand(DbBatch batch, SqlText text, string?[] values);

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

/// <summary>A failure of a database, without values of messages.</summary>
/// <param name="Code">Stable: <c>ESB-SQL-…</c>.</param>
/// <param name="Sentence">The description.</param>
/// <param name="Kind">The party at fault.</param>
/// <param name="IsTransient">True if a retry may help.</param>
/// <param name="IsOutage">True if the database is currently unusable for all callers.</param>
/// <param name="NeedsNewConnections">True if open connections stay useless: their server is no longer the primary, but new ones may find
/// the current primary.</param>
internal sealed record DatabaseFailure(string Code, string Sentence, FaultKind Kind, bool IsTransient = false, bool IsOutage = false, bool NeedsNewConnections = false)
{
    /// <summary>Address and cause, for operators only; null if the sentence says all.</summary>
    public string? Detail { get; init; }

    /// <summary>Converts the failure to the exception of an endpoint, or of a connection.</summary>
    public EndpointException ToException(string endpoint, Exception cause) => new(endpoint, Code, Sentence, IsTransient, cause, Kind) { IsOutage = IsOutage, Detail = Detail };
}
