using Esb.Core.Configuration.Settings;

namespace Esb.Core.Storage;

/// <summary>An external database; one pool of connections per process for each.</summary>
public sealed record ConnectionConfig : SettingsRecord
{
    /// <summary>The database client, such as <c>npgsql</c>.</summary>
    [Setting("The database client: npgsql (PostgreSQL), mysql (MySQL and MariaDB), or one of a plug-in.")]
    public string Provider { get; init; } = "npgsql";

    /// <summary>The connection string in the provider's form.</summary>
    [Setting("The connection string.", MayHoldPassword = true)]
    public required string Connection { get; init; }

    /// <summary>Maximum open connections; null for four per core. An open connection for each waiting instance would cost more than it
    /// gains.</summary>
    [Setting("Connections open at once, whatever the endpoints' poolSize; by default four per core, at least 8.", Range = "1..1000")]
    public int? MaxPoolSize { get; init; }

    /// <summary>True if it may be on another machine without TLS.</summary>
    [Setting("Whether the server may be on another machine without TLS that verifies it; warned of at each start.")]
    public bool AllowInsecure { get; init; }
}
