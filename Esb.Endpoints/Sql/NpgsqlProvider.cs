using System.Data.Common;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Endpoints.Sql;

/// <summary>PostgreSQL, by Npgsql.</summary>
internal sealed class NpgsqlProvider : IDatabaseProvider
{
    private const int PreparedStatements = 64;

    public string Name => "npgsql";

    public void Check(ConnectionConfig connection, ConfigErrors errors)
    {
        try
        {
            var parts = new NpgsqlConnectionStringBuilder(connection.Connection);
            if (string.IsNullOrEmpty(parts.Host)) errors.Add("ESB-CFG-VALUE", connection, "connection", "expected a connection string with a Host");
            else if (parts is { Username: "postgres", Password: "postgres" } && !DatabaseHosts.AreLoopback(parts.Host))
                errors.Add("ESB-CFG-DEFAULTCRED", connection, "connection", "the default user and password are refused for a database on another machine");
        }
        catch (Exception ex) when (ex is ArgumentException or FormatException)
        {
            errors.Add("ESB-CFG-VALUE", connection, "connection", "expected a connection string of Npgsql, such as \"Host=db;Database=shop;Username=esb\"");
        }
    }

    public DbDataSource Open(ConnectionConfig connection, int maxPoolSize)
    {
        var parts = new NpgsqlConnectionStringBuilder(connection.Connection) { MaxPoolSize = maxPoolSize, Multiplexing = false, Enlist = false };
        parts.MinPoolSize = Math.Min(parts.MinPoolSize, maxPoolSize);
        parts.ApplicationName ??= "esb";
        if (!parts.ShouldSerialize("Max Auto Prepare")) parts.MaxAutoPrepare = PreparedStatements; // 0 stays 0, as some poolers need it
        if (!parts.ShouldSerialize("No Reset On Close")) parts.NoResetOnClose = true; // a quarter more queries; an open transaction is rolled back all the same
        return NpgsqlDataSource.Create(parts);
    }

    public DbCommand CreateCommand(DbConnection connection, SqlText text, string?[] values)
    {
        var command = (NpgsqlCommand)connection.CreateCommand();
        command.CommandTimeout = 0; // the endpoint's timeout cancels
        command.CommandText = text.IsSingleStatement ? text.Positional : text.Text;
        for (var i = 0; i < values.Length; i++)
        {
            // Positions need no rewriting of the command for each message, but the protocol has them for single statements only.
            var parameter = new NpgsqlParameter { NpgsqlDbType = NpgsqlDbType.Unknown, Value = (object?)values[i] ?? DBNull.Value };
            if (!text.IsSingleStatement) parameter.ParameterName = text.Parameters[i];
            command.Parameters.Add(parameter);
        }

        return command;
    }

    public DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters) => cause switch
    {
        PostgresException refused => PostgresFailures.Explain(refused, parameters),
        NpgsqlException => PostgresFailures.Unreachable,
        _ => null,
    };
}
