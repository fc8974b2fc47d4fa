using System.Data.Common;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Delivery.Databases;
using Microsoft.Data.Sqlite;

namespace Lite;

/// <summary>The provider <c>sqlite</c>: databases that are a file.</summary>
public sealed class LiteClient : IDatabaseClient
{
    private const int Busy = 5;
    private const int Locked = 6;
    private const int ReadOnly = 8;
    private const int InputOutput = 10;
    private const int Full = 13;
    private const int CannotOpen = 14;
    private const int Constraint = 19;

    public string Name => "sqlite";

    public void Check(ConnectionConfig connection, ConfigErrors errors)
    {
        try
        {
            if (new SqliteConnectionStringBuilder(connection.Connection).DataSource.Length > 0)
                return;
        }
        catch (ArgumentException)
        {
            // told below
        }

        errors.Add("ESB-CFG-VALUE", connection, "connection", "expected a connection string such as \"Data Source=shop.db\"");
    }

    // SQLite keeps its own connections open; the bus asks for no more than its pool has.
    public DbDataSource Open(ConnectionConfig connection, int maxPoolSize) =>
        SqliteFactory.Instance.CreateDataSource(connection.Connection);

    public void Close(DbDataSource pool)
    {
        using var connection = new SqliteConnection(pool.ConnectionString);
        SqliteConnection.ClearPool(connection);
    }

    public string Placeholder(int position) => $"@p{position}";

    public string ParameterName(int position) => Placeholder(position);

    public DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters) =>
        cause is not SqliteException refused
            ? null
            : refused.SqliteErrorCode switch
            {
                Busy or Locked => new(
                    "ESB-SQL-TRANSIENT",
                    "Another transaction has the database.",
                    FaultKind.Unavailable,
                    IsTransient: true
                ),
                ReadOnly or InputOutput or Full or CannotOpen => new(
                    "ESB-SQL-CONNECTION",
                    $"The file of the database cannot be used (error {refused.SqliteErrorCode}).",
                    FaultKind.Outside,
                    IsTransient: true,
                    IsOutage: true
                ),
                Constraint => new("ESB-SQL-CONSTRAINT", "The values break a constraint.", FaultKind.Invalid),
                _ => new("ESB-SQL-COMMAND", $"The database refused the command (error {refused.SqliteErrorCode}).", FaultKind.Internal),
            };
}
