using System.Data.Common;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Endpoints.Sql;

/// <summary>A database client, as <c>provider</c> of a connection names it. Thread-safe.</summary>
internal interface IDatabaseProvider
{
    /// <summary>The name in the configuration.</summary>
    string Name { get; }

    /// <summary>Whether our own tables can be kept in its databases; without them <c>once</c> and <c>transaction</c> are refused.</summary>
    bool HasBusTables { get; }

    /// <summary>Reports what is wrong with a connection. Opens none.</summary>
    void Check(ConnectionConfig connection, ConfigErrors errors);

    /// <summary>A pool of connections; opens none yet.</summary>
    /// <param name="connection">What was configured.</param>
    /// <param name="maxPoolSize">The most connections.</param>
    DbDataSource Open(ConnectionConfig connection, int maxPoolSize);

    /// <summary>Closes the connections of a pool, those in use when they come back; the pool opens others.</summary>
    void Close(DbDataSource pool);

    /// <summary>An empty batch of commands. They go in one round trip, in their order, and take effect together or not at all. Nothing ends it but a token, or to cancel it, which waits until the server knows.</summary>
    DbBatch CreateBatch(DbConnection connection);

    /// <summary>Adds a claim: where the message was applied before, nothing of the batch takes effect.</summary>
    void AddClaim(DbBatch batch, MessageClaim claim);

    /// <summary>Adds a command with its values bound: as data, and without a type, so that the database takes each as its place in the command needs it. Each of its statements is a command of the batch.</summary>
    void AddCommand(DbBatch batch, SqlText text, string?[] values);

    /// <summary>Adds a fence: where a larger token was shown before, nothing of the batch takes effect.</summary>
    void AddFence(DbBatch batch, Fence fence);

    /// <summary>Whether the database answered, and refused what it was given; then it would take it without the part at fault.</summary>
    bool IsRefusal(Exception cause);

    /// <summary>Which command of a batch was refused; null where the exception is about all of it, or about the connection.</summary>
    int? IndexOfRefused(DbBatch batch, Exception cause);

    /// <summary>What an exception says of a message that was applied before; null where it is about something else.</summary>
    DuplicateNotice? DuplicateOf(Exception cause);

    /// <summary>What an exception of the client means; null where it is none of the client.</summary>
    /// <param name="cause">What was thrown.</param>
    /// <param name="parameters">The names of the parameters, in their order.</param>
    DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters);
}

/// <summary>A failure of a database, without any value of a message in it.</summary>
/// <param name="Code">Stable: <c>ESB-SQL-…</c>.</param>
/// <param name="Sentence">What happened.</param>
/// <param name="Kind">Whose fault it is.</param>
/// <param name="IsTransient">Whether trying again may help.</param>
/// <param name="IsOutage">Whether the database cannot be used by anybody now.</param>
/// <param name="NeedsNewConnections">Whether those that are open stay of no use: they go to a server that is the primary no more, while new ones may find the one that is.</param>
internal sealed record DatabaseFailure(string Code, string Sentence, FaultKind Kind, bool IsTransient = false, bool IsOutage = false, bool NeedsNewConnections = false)
{
    /// <summary>The failure as an endpoint's, or a connection's.</summary>
    public EndpointException ToException(string endpoint, Exception cause) => new(endpoint, Code, Sentence, IsTransient, cause, Kind) { IsOutage = IsOutage };
}
