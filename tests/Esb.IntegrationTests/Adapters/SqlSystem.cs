using System.Globalization;
using Esb.IntegrationTests.Sql;
using Esb.IntegrationTests.Storage;
using Npgsql;

namespace Esb.IntegrationTests.Adapters;

/// <summary>Tables of PostgreSQL.</summary>
internal abstract class SqlSystem : AdapterSystem
{
    private PrivatePostgres? _own;

    protected Shop Shop { get; private set; } = null!;

    public override string Sections(string credential) =>
        $$"""
            "connections": { "shop": { "provider": "npgsql", "connection": "${env:{{credential}}}" } },
            """;

    protected override async Task<int?> PrepareAsync()
    {
        _own = IsToBeKilled ? await PrivatePostgres.StartAsync() : null;
        Shop = await Shop.CreateAsync(_own?.Connection ?? Servers.Postgres);
        await Shop.ExecuteAsync(
            """
            create table jobs (number int primary key, taken boolean not null default false);
            create index on jobs (number) where not taken;
            create table done (place serial, number int not null, message uuid not null)
            """
        );
        return new NpgsqlConnectionStringBuilder(Shop.ConnectionString).Port;
    }

    // The servers of the tests know no passwords.
    protected override (string Right, string Wrong) Credentials()
    {
        var parts = new NpgsqlConnectionStringBuilder(Shop.ConnectionString) { Host = "127.0.0.1", Port = Proxy.Port };
        var right = parts.ConnectionString;
        parts.Username = $"stranger-{Id}";
        return (right, parts.ConnectionString);
    }

    public override Task KillAsync() => _own!.KillAsync();

    public override async Task StartAgainAsync()
    {
        await _own!.StartAgainAsync();
        Shop.ForgetConnections();
    }

    protected override async Task StopAsync()
    {
        await Shop.DisposeAsync();
        if (_own is not null)
            await _own.DisposeAsync();
    }
}

/// <summary>Rows that are taken out of a table.</summary>
internal sealed class SqlInboundSystem : SqlSystem
{
    public override bool IsInbound => true;

    public override string Endpoint(string credential) =>
        """
            "type": "sql-inbound", "connection": "shop", "interval": "100ms",
            "query": "select number from jobs where not taken order by number limit 50", "after": "update jobs set taken = true where number = @number"
            """;

    public override Task PutAsync(int number, CancellationToken cancellationToken) =>
        Shop.ExecuteAsync($"insert into jobs (number) values ({number})");

    public override Task PutManyAsync(int count, CancellationToken cancellationToken) =>
        Shop.ExecuteAsync($"insert into jobs (number) select generate_series(0, {count - 1}); analyze jobs");
}

/// <summary>Rows that are inserted into a table, once each.</summary>
internal sealed class SqlOutboundSystem : SqlSystem
{
    public override bool IsInbound => false;

    public override string Endpoint(string credential) =>
        """
            "type": "sql-outbound", "connection": "shop", "execute": "insert into done (number, message) values (@number, @message)", "once": true,
            "parameters": { "number": { "jsonpath": "$.number" }, "message": { "message": "id" } }
            """;

    public override async Task<IReadOnlyList<Arrival>> ArrivedAsync(CancellationToken cancellationToken) =>
        [
            .. (await Shop.ReadAsync<string>("select number || ' ' || message from done order by place", cancellationToken)).Select(
                row => new Arrival(row.Split(' ')[1], int.Parse(row.Split(' ')[0], CultureInfo.InvariantCulture))
            ),
        ];
}
