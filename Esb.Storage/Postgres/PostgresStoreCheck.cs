using System.Text.RegularExpressions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Storage;
using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>Checks what the settings of the store say beyond their form.</summary>
internal sealed partial class PostgresStoreCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    private static readonly string[] LoopbackHosts = ["localhost", "127.0.0.1", "::1", "[::1]"];

    public void Check(ConfigErrors errors)
    {
        if (configuration.Section<StoreConfig>("store") is not PostgresStoreConfig config) return;

        if (!SchemaName().IsMatch(config.Schema))
            errors.Add("ESB-CFG-NAME", config, "schema", "expected 1 to 63 lower-case letters, digits and _, beginning with a letter");

        try
        {
            CheckConnection(new NpgsqlConnectionStringBuilder(config.Connection), config, errors);
        }
        catch (Exception ex) when (ex is ArgumentException or FormatException)
        {
            errors.Add("ESB-CFG-CONNECTION", config, "connection", "expected a connection string of Npgsql, such as \"Host=db;Database=esb;Username=esb\"");
        }
    }

    private static void CheckConnection(NpgsqlConnectionStringBuilder connection, PostgresStoreConfig config, ConfigErrors errors)
    {
        if (string.IsNullOrEmpty(connection.Host))
            errors.Add("ESB-CFG-CONNECTION", config, "connection", "names no Host");
        else if (connection.Username == "postgres" && connection.Password == "postgres" && !connection.Host.Split(',').All(IsLocal))
            errors.Add("ESB-CFG-DEFAULTCRED", config, "connection", "the default credentials postgres/postgres are accepted on this machine only");
    }

    private static bool IsLocal(string host) => host.StartsWith('/') || LoopbackHosts.Any(local => host == local || host.StartsWith(local + ":", StringComparison.Ordinal));

    [GeneratedRegex("^[a-z][a-z0-9_]{0,62}$")]
    private static partial Regex SchemaName();
}
