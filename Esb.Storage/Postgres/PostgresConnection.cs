using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>The connection string with what the store needs; what the operator wrote stays.</summary>
internal static class PostgresConnection
{
    // A few connections per core do more than many: audit facts come in groups.
    private const int PoolSize = 8;

    public static string With(PostgresStoreConfig config, bool readOnly)
    {
        var builder = new NpgsqlConnectionStringBuilder(config.Connection) { SearchPath = config.Schema, Enlist = false };
        Default("Application Name", () => builder.ApplicationName = "esb");
        Default("Maximum Pool Size", () => builder.MaxPoolSize = PoolSize);
        Default("Timeout", () => builder.Timeout = 5);
        Default("Command Timeout", () => builder.CommandTimeout = 10);
        Default("Keepalive", () => builder.KeepAlive = 15);
        Default("Max Auto Prepare", () => builder.MaxAutoPrepare = 50);
        // Whatever the role's own defaults are.
        builder.Options = $"{builder.Options} -c synchronous_commit=on{(readOnly ? " -c default_transaction_read_only=on" : "")}".TrimStart();
        return builder.ConnectionString;

        void Default(string name, Action set)
        {
            if (!builder.ContainsKey(name)) set();
        }
    }
}
