using System.Text.RegularExpressions;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Checks what the settings of the store say beyond their form.</summary>
internal sealed partial class PostgresStoreRule(StoreConfig configured) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        if (configured is not PostgresStoreConfig config)
            return;

        if (!SchemaName().IsMatch(config.Schema))
            errors.Add("ESB-CFG-NAME", config, "schema", "expected 1 to 63 lower-case letters, digits and _, beginning with a letter");

        try
        {
            CheckConnection(new NpgsqlConnectionStringBuilder(config.Connection), config, errors);
        }
        catch (Exception ex) when (ex is ArgumentException or FormatException)
        {
            errors.Add(
                "ESB-CFG-CONNECTION",
                config,
                "connection",
                "expected a connection string of Npgsql, such as \"Host=db;Database=esb;Username=esb\""
            );
        }
    }

    private static void CheckConnection(NpgsqlConnectionStringBuilder connection, PostgresStoreConfig config, ConfigErrors errors)
    {
        if (string.IsNullOrEmpty(connection.Host))
            errors.Add("ESB-CFG-CONNECTION", config, "connection", "names no Host");
        else if (!LoopbackHosts.AreAll(connection.Host))
            CheckRemote(connection, config, errors);
    }

    private static void CheckRemote(NpgsqlConnectionStringBuilder connection, PostgresStoreConfig config, ConfigErrors errors)
    {
        if (connection is { Username: "postgres", Password: "postgres" })
            errors.Add(
                "ESB-CFG-DEFAULTCRED",
                config,
                "connection",
                "the default credentials postgres/postgres are accepted on this machine only"
            );
        if (connection.SslMode is not (SslMode.VerifyCA or SslMode.VerifyFull))
            errors.RefuseInsecure(config, "connection", config.AllowInsecure, "SSL Mode=VerifyFull");
    }

    [GeneratedRegex("^[a-z][a-z0-9_]{0,62}$")]
    private static partial Regex SchemaName();
}
