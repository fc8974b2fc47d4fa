using System.Data.Common;
using Esb.Core.Configuration;
using Esb.Core.Storage;

namespace Esb.Delivery.Databases;

/// <summary>A client of external databases, which a plug-in can add: <c>provider</c> of a connection names it, and <c>sql-outbound</c> and
/// <c>sql-inbound</c> work through it. Thread-safe.</summary>
/// <remarks>
/// Register it with <c>AddDatabaseClient</c>. Its connections must support transactions in which commands run without naming them; where
/// they have no <see cref="DbBatch"/>, the statements of a command run one after the other. The bus keeps no tables in its databases:
/// <c>once</c>, <c>singleInstance</c> of outbound endpoints, <c>batch</c> and the step <c>transaction</c> are refused there, and
/// <c>sql-inbound</c> hands over before the commit, at least once.
/// </remarks>
public interface IDatabaseClient
{
    /// <summary>The name in the configuration, such as <c>mysql</c>.</summary>
    string Name { get; }

    /// <summary>Reports the configuration errors of a connection. Opens none.</summary>
    void Check(ConnectionConfig connection, ConfigErrors errors);

    /// <summary>Creates a pool of connections; opens none yet.</summary>
    /// <param name="connection">The configuration.</param>
    /// <param name="maxPoolSize">The maximum number of connections.</param>
    DbDataSource Open(ConnectionConfig connection, int maxPoolSize);

    /// <summary>Closes the connections of a pool, those in use when they are returned; the pool opens new ones.</summary>
    void Close(DbDataSource pool);

    /// <summary>The placeholder of a parameter in the text of a statement, such as <c>@p1</c>.</summary>
    /// <param name="position">From 1, within the statement.</param>
    string Placeholder(int position);

    /// <summary>The name of a parameter, as the client needs it beside <see cref="Placeholder"/>.</summary>
    /// <param name="position">From 1, within the statement.</param>
    string ParameterName(int position);

    /// <summary>Maps an exception of the client to a failure; null for other exceptions.</summary>
    /// <param name="cause">The exception.</param>
    /// <param name="parameters">The names of the parameters, in order.</param>
    DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters);
}
