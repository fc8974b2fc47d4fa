using System.Data.Common;
using System.Globalization;
using System.Net.Sockets;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Esb.Delivery.Databases;
using MySqlConnector;

namespace Esb.Endpoints.Sql.Clients;

/// <summary>MySQL and MariaDB, through MySqlConnector.</summary>
internal sealed class MySqlClient : IDatabaseClient
{
    public string Name => "mysql";

    public void Check(ConnectionConfig connection, ConfigErrors errors)
    {
        try
        {
            var parts = new MySqlConnectionStringBuilder(connection.Connection);
            if (string.IsNullOrEmpty(parts.Server))
                errors.Add("ESB-CFG-VALUE", connection, "connection", "expected a connection string with a Server");
            else if (
                !parts.Server.Split(',').All(server => LoopbackHosts.Is(server.Trim()))
                && parts.SslMode is not (MySqlSslMode.VerifyCA or MySqlSslMode.VerifyFull)
            )
                errors.RefuseInsecure(connection, "connection", connection.AllowInsecure, "SSL Mode=VerifyFull");
        }
        catch (Exception ex) when (ex is ArgumentException or FormatException)
        {
            errors.Add(
                "ESB-CFG-VALUE",
                connection,
                "connection",
                "expected a connection string of MySqlConnector, such as \"Server=db;Database=shop;User ID=esb\""
            );
        }
    }

    public DbDataSource Open(ConnectionConfig connection, int maxPoolSize)
    {
        var parts = new MySqlConnectionStringBuilder(connection.Connection)
        {
            MaximumPoolSize = (uint)maxPoolSize,
            IgnoreCommandTransaction = true, // commands belong to the transaction of their connection
            AutoEnlist = false,
            AllowUserVariables = false,
            AllowLoadLocalInfile = false, // a server could ask for any file of this machine
        };
        parts.MinimumPoolSize = Math.Min(parts.MinimumPoolSize, parts.MaximumPoolSize);
        if (!parts.ContainsKey("Application Name") || string.IsNullOrEmpty(parts.ApplicationName))
            parts.ApplicationName = "esb";
        return new MySqlDataSource(parts.ConnectionString);
    }

    public void Close(DbDataSource pool)
    {
        using var connection = ((MySqlDataSource)pool).CreateConnection();
        MySqlConnection.ClearPool(connection);
    }

    public string Placeholder(int position) => string.Create(CultureInfo.InvariantCulture, $"@p{position}");

    public string ParameterName(int position) => Placeholder(position);

    public DatabaseFailure? Explain(Exception cause, IReadOnlyList<string> parameters) =>
        cause switch
        {
            MySqlException refused => MySqlFailures.Explain(refused, parameters),
            SocketException or IOException or TimeoutException => MySqlFailures.Unreachable,
            _ => null,
        };
}
