using Npgsql;

namespace Esb.Storage.Postgres;

/// <summary>The connection string with what the store needs; what the operator wrote stays.</summary>
internal static class PostgresConnection
{
    // A few connections per core do more than many: facts and checkpoints come in groups. A server has 100 by default, for all hosts.
    private const int PoolSize = 16;

    private const int SearchPoolSize = 4;

    // All statements that the stores repeat.
    private const int PreparedStatements = 200;

    // Searches go along one index in the order of time, look the rest up by key, and stop when there is enough. The planner has statistics
    // of the days but not of all of them together, and would merge
    // or hash what it can look up: two fields of ten million facts take 8 ms this way, and 17 to 100 ms that way. What is asked for decides
    // which index leads, so plans are made for it; translating one
    // takes longer than the search.
    private const string ForSearch =
        " -c enable_mergejoin=off -c enable_hashjoin=off -c enable_seqscan=off -c plan_cache_mode=force_custom_plan -c jit=off";

    // What a host that is frozen or cut off has locked would stay so for as long as its connection looks alive: two hours, by the defaults
    // of the system.
    private const string LetGo =
        " -c idle_in_transaction_session_timeout=60s -c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3";

    // Tables of what waits are empty at one moment and hold thousands of rows at the next. A plan made for the empty table reads all of
    // it, and is kept until the next analyze: each look-up then costs as much as there is, dead rows included. Where there is no index
    // to read, such a plan has a cost that no other has, for which the server would compile it: 150 ms for a statement of one.
    private const string ForLookUps = " -c enable_seqscan=off -c jit=off";

    public static string With(PostgresStoreConfig config, bool readOnly) => With(config, readOnly, PoolSize, ForLookUps);

    /// <summary>A pool of connections.</summary>
    public static NpgsqlDataSource Pool(PostgresStoreConfig config, bool readOnly) => PoolOf(With(config, readOnly));

    /// <summary>A pool of connections for searches, which only read.</summary>
    public static NpgsqlDataSource SearchPool(PostgresStoreConfig config) =>
        PoolOf(With(config, readOnly: true, SearchPoolSize, ForSearch));

    // The tables have only types that every server has. Looking up all that a database has takes each pool 0.1 s where 40 schemas have
    // such tables.
    private static NpgsqlDataSource PoolOf(string connection)
    {
        var pool = new NpgsqlDataSourceBuilder(connection);
        pool.ConfigureTypeLoading(types => types.EnableTypeLoading(false));
        return pool.Build();
    }

    private static string With(PostgresStoreConfig config, bool readOnly, int poolSize, string options)
    {
        var builder = new NpgsqlConnectionStringBuilder(config.Connection) { SearchPath = config.Schema, Enlist = false };
        Default("Application Name", () => builder.ApplicationName = "esb");
        Default("Maximum Pool Size", () => builder.MaxPoolSize = poolSize);
        Default("Keepalive", () => builder.KeepAlive = 15);
        Default("Max Auto Prepare", () => builder.MaxAutoPrepare = PreparedStatements);
        Default("No Reset On Close", () => builder.NoResetOnClose = true); // nothing of a session is changed but within a transaction
        // Whatever the role's own defaults are.
        builder.Options = (
            $"{builder.Options} -c " + $"synchronous_commit=on{LetGo}{(readOnly ? " -c default_transaction_read_only=on" : "")}{options}"
        ).TrimStart();
        return builder.ConnectionString;

        void Default(string name, Action set)
        {
            if (!builder.ShouldSerialize(name)) // ContainsKey is true of every setting there is
                set();
        }
    }
}
