using System.Data;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Inbound;
using Esb.IntegrationTests.Sql;
using Esb.Tests;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Esb.IntegrationTests.Speed;

/// <summary>Rows of PostgreSQL, beside Npgsql.</summary>
public sealed partial class AdapterSpeedTests
{
    /// <summary>Rows in transactions of one, or of many.</summary>
    [TestCase(1), TestCase(200)]
    public async Task Sql_in(int atOnce, CancellationToken cancellationToken)
    {
        await using var shop = await Shop.CreateAsync();
        await shop.ExecuteAsync("create table jobs (id int primary key, note text, taken boolean not null default false)");
        await shop.ExecuteAsync("create index on jobs (id) where not taken");
        var query = $"select id, note from jobs where not taken order by id limit {atOnce}";
        var rows = atOnce == 1 ? Rows / 5 : Rows;
        const string after = "update jobs set taken = true where id = @id";

        await CompareAsync(
            "sql-inbound",
            "Npgsql: select, update, commit",
            atOnce,
            rows,
            () =>
                shop.ExecuteAsync(
                    $"truncate jobs; insert into jobs select n, repeat('x', 2048) from generate_series(1, {rows}) n; analyze jobs"
                ),
            () => TakePlainAsync(shop, query, cancellationToken),
            async () =>
            {
                var config = new SqlInboundConfig
                {
                    Name = "jobs",
                    Connection = "shop",
                    Query = query,
                    After = after,
                    Process = "p",
                };
                var taker = new RowTaker(
                    config,
                    SqlText.Parse(query),
                    SqlText.Parse(after),
                    shop.Open(),
                    null!,
                    new CountingIntake(() => { }),
                    1_000_000,
                    TimeProvider.System,
                    NullLogger<RowTaker>.Instance
                );
                while (await taker.TakeAsync(cancellationToken) > 0) { }
            }
        );
    }

    [TestCase(1), TestCase(8)]
    public async Task Sql_out(int atOnce, CancellationToken cancellationToken)
    {
        await using var shop = await Shop.CreateAsync();
        const string insert = "insert into orders values (gen_random_uuid(), @body)";
        var endpoint = shop.Endpoint(execute: insert);
        await using var source = NpgsqlDataSource.Create(shop.ConnectionString);

        await CompareAsync(
            "sql-outbound",
            "Npgsql: insert",
            atOnce,
            Rows,
            () => shop.ExecuteAsync("truncate orders"),
            () =>
                SplitAsync(
                    Rows,
                    atOnce,
                    async _ =>
                    {
                        await using var command = source.CreateCommand("insert into orders values (gen_random_uuid(), $1)");
                        command.Parameters.Add(new() { Value = Body });
                        await command.ExecuteNonQueryAsync(cancellationToken);
                    }
                ),
            () => SplitAsync(Rows, atOnce, _ => SendAsync(endpoint, Some.Message($"{{\"body\":\"{Body}\"}}"), cancellationToken))
        );
    }

    private static async Task TakePlainAsync(Shop shop, string query, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(shop.ConnectionString);
        while (true)
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
            var ids = new List<int>();
            await using (var command = new NpgsqlCommand(query, connection))
            await using (var reader = await command.ExecuteReaderAsync(cancellationToken))
            {
                while (await reader.ReadAsync(cancellationToken))
                {
                    ids.Add(reader.GetInt32(0));
                    _ = reader.GetString(1);
                }
            }

            if (ids.Count == 0)
                return;
            await using var batch = new NpgsqlBatch(connection);
            foreach (var id in ids)
                batch.BatchCommands.Add(
                    new NpgsqlBatchCommand("update jobs set taken = true where id = $1") { Parameters = { new() { Value = id } } }
                );
            await batch.ExecuteNonQueryAsync(cancellationToken);
            await transaction.CommitAsync(cancellationToken);
        }
    }
}
